package cli

import (
	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
)

// commands are the verbs, in the order in which help lists them.
func commands(a *app.App) []*cobra.Command {
	return []*cobra.Command{
		listCommand(a), showCommand(a), logCommand(a), forkCommand(a), renameCommand(a), pauseCommand(a), closeCommand(a), reopenCommand(a),
		deleteCommand(a), takeoverCommand(a), backupCommand(a),
		verifyCommand(a), usageCommand(a), taskCommand(a), approvalsCommand(a), sendCommand(a), answerCommand(a), permissionsCommand(a),
		doctorCommand(a), completionCommand(a), versionCommand(a),
	}
}
