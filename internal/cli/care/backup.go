package care

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/store"
)

// BackupCommand is perdure backup.
func BackupCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "backup DIR", Short: "Copy the home into a new directory, verified, while others go on",
		Long: `Copy all sessions, in one state, with the outputs and directories of their commands, into a new
directory. Every log of the copy is verified before the command ends. The copy is a home:

  PERDURE_HOME=DIR perdure list

To restore, put it in the place of the home while nothing runs. A copy of single files of a home
is no backup: what perdure.db-wal holds belongs to perdure.db.`,
		Args: app.ExactArgs(1, "a directory that is not there yet"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				if args[0] == "" {
					return app.UsageError("a directory is needed that is not there yet")
				}
				dir, err := a.Directory(args[0])
				if err != nil {
					return err
				}
				switch err := h.Backup(ctx, dir); {
				case errors.Is(err, fs.ErrExist):
					return &app.ExitError{Code: app.ExitUsage, Text: err.Error(), Hint: "name a directory that is not there yet"}
				case errors.Is(err, store.ErrFull) || errors.Is(err, syscall.ENOSPC):
					return &app.ExitError{Code: app.ExitFailed, Text: err.Error(), Hint: "free space on the disk of " + dir + ", or name another place"}
				case err != nil:
					return err
				}
				a.Linef("%s", dir)
				return nil
			})
		},
	}
}
