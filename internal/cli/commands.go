package cli

import (
	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/asking"
	"github.com/perdure/perdure/internal/cli/care"
	"github.com/perdure/perdure/internal/cli/complete"
	"github.com/perdure/perdure/internal/cli/configuring"
	"github.com/perdure/perdure/internal/cli/desk"
	"github.com/perdure/perdure/internal/cli/exporting"
	"github.com/perdure/perdure/internal/cli/files"
	"github.com/perdure/perdure/internal/cli/handoffs"
	"github.com/perdure/perdure/internal/cli/importing"
	"github.com/perdure/perdure/internal/cli/inbox"
	"github.com/perdure/perdure/internal/cli/lookup"
	"github.com/perdure/perdure/internal/cli/notes"
	"github.com/perdure/perdure/internal/cli/plans"
	"github.com/perdure/perdure/internal/cli/run"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/cli/tasks"
)

// commands are the verbs, in the order in which help lists them.
func commands(a *app.App) []*cobra.Command {
	return []*cobra.Command{
		run.StartCommand(a), desk.Command(a, run.OpenOnScreen), run.AttachCommand(a), sessions.ListCommand(a), sessions.ShowCommand(a), sessions.LogCommand(a), exporting.Command(a, "perdure "+care.ThisVersion().Version), importing.Command(a), lookup.Command(a), sessions.ForkCommand(a),
		files.CheckpointCommand(a), files.DiffCommand(a), files.UndoCommand(a), files.RestoreCommand(a), files.TreeCommand(a), files.ApplyCommand(a), files.ArtifactCommand(a), files.DuCommand(a),
		sessions.RenameCommand(a), sessions.LabelCommand(a), sessions.StateCommand(a), sessions.PauseCommand(a), sessions.CloseCommand(a), sessions.ReopenCommand(a), sessions.CompactCommand(a), sessions.DeleteCommand(a),
		care.TakeoverCommand(a), care.BackupCommand(a), care.VerifyCommand(a), sessions.UsageCommand(a), tasks.Command(a),
		inbox.Command(a), asking.ApprovalsCommand(a), asking.SendCommand(a), asking.AnswerCommand(a), asking.PermissionsCommand(a),
		handoffs.Command(a), plans.Command(a), notes.MemoryCommand(a), notes.JournalCommand(a), notes.LearnCommand(a), configuring.ConfigCommand(a), configuring.TrustCommand(a), care.DoctorCommand(a), complete.Command(a), care.VersionCommand(a),
		run.SuperviseCommand(a),
	}
}
