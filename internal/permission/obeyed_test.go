package permission

import (
	"strings"
	"testing"
)

// startups are files that run, or are obeyed, later on a person's behalf, below a home or in a project.
var startups = []string{
	".envrc", "sub/.envrc", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".profile.d/x.sh", ".bashrc.d/x", ".zshenv", ".zshrc", ".zprofile", ".zlogin", ".zshrc.d/x", ".config/fish/config.fish",
	".config/fish/conf.d/x.fish", ".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".gitconfig", ".config/git/config", ".git/config", ".git/hooks/pre-commit", ".githooks/x", ".husky/pre-commit", ".hgrc", ".vscode/tasks.json", ".vscode/settings.json",
	".vscode/launch.json", "x.code-workspace", ".idea/workspace.xml", ".idea/runConfigurations/x.xml", ".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/releases/yarn.cjs", ".yarn/plugins/x.cjs", ".pnpmrc", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml",
	"lefthook.yml", "lefthook-local.yml", ".overcommit.yml", ".lintstagedrc", ".lintstagedrc.json", "Jenkinsfile", "azure-pipelines.yml",
	"bitbucket-pipelines.yml", ".gitea/workflows/x.yml", ".forgejo/workflows/x.yml", ".drone.yml", ".buildkite/pipeline.yml", ".woodpecker.yml", ".woodpecker/x.yml",
	"opencode.json", ".opencode/x", ".zed/tasks.json", ".helix/languages.toml", ".lazy.lua", ".continue/config.json", ".kiro/hooks/x", ".roo/rules/x", ".windsurf/rules/x",
	"mise.toml", ".mise.toml", ".tool-versions",
	".github/workflows/ci.yml", ".github/actions/x/action.yml", ".gitlab-ci.yml", ".circleci/config.yml", "sitecustomize.py", "src/usercustomize.py", "venv/lib/python3/site-packages/x.pth", "lib/dist-packages/x.pth", ".pypirc", ".pdbrc",
	".cargo/config.toml", ".cargo/config", ".ssh/authorized_keys", ".ssh/config", ".ssh/rc", ".config/systemd/user/x.service", ".config/environment.d/x.conf", ".config/autostart/x.desktop", ".pam_environment", ".mcp.json", "AGENTS.md", "CLAUDE.md", "sub/AGENTS.md",
	"CLAUDE.local.md", "GEMINI.md", ".cursorrules", ".cursor/rules/x.mdc", ".windsurfrules", ".clinerules", ".github/copilot-instructions.md", ".claude/settings.json", ".tmux.conf", ".config/tmux/tmux.conf", ".screenrc", ".vimrc", ".exrc", ".nvimrc", ".nvim.lua", ".config/nvim/init.lua",
	".emacs", ".emacs.d/init.el", ".dir-locals.el", ".Xprofile", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".gdbinit", ".lldbinit", ".curlrc", ".wgetrc", ".config/Code/User/settings.json", ".devcontainer/devcontainer.json",
	".hg/hgrc", "sub/.hg/hgrc", ".jj/repo/config.toml", ".sl/config", ".lefthook.yml", ".lefthook-local.yaml", "lefthook.toml", ".aider.conf.yml", ".trae/rules/x.md", ".trae/mcp.json", ".windsurf/hooks.json",
	".agent/MEMORY.md", ".agent/memory/x.md", ".agent/journal.md", ".agent/HANDOFF.md", ".agent/state.json", "sub/.agent/MEMORY.md", ".agent",
}

// plainFiles are a project's own: they run when the project is built, tested or run, and are reviewed as its code.
var plainFiles = []string{
	"Makefile", "package.json", "pyproject.toml", "conftest.py", "setup.py", "build.rs", "justfile", ".gitignore", ".gitattributes", ".editorconfig", ".vscode/extensions.json", ".github/CODEOWNERS", ".github/ISSUE_TEMPLATE/x.md", "README.md", "docs/agents.txt",
	"MEMORY.md", "docs/memory.md", "agent/MEMORY.md", "HANDOFF.md", "state.json", "model.pth", "agents.py", "claude.go", "site-packages/x.py", "customize.py", ".yarn/cache/x.zip", "idea/x", "workflows/ci.yml",
}

// Goal: files that run or are obeyed later, for a person who did not ask for it, are not written unasked, in no mode, by
// no rule, neither by the file tools nor by a redirect or a command that names them.
func TestFilesThatAreObeyedLater(t *testing.T) {
	for _, name := range startups {
		for _, base := range []string{testCwd, "/home/u"} {
			for _, r := range []Request{
				{Tool: "Write", Path: base + "/" + name},
				{Tool: "Edit", Path: base + "/" + strings.ToUpper(name)},
				bash("echo x > " + base + "/" + name), bash("echo x >> " + base + "/" + name), bash("echo x >| " + base + "/" + name), bash("echo x &> '" + base + "/" + name + "'"),
				bash("tee " + base + "/" + name), bash("cp x " + base + "/" + name), bash("cat x > " + base + "/" + name), bash("git checkout x -- " + base + "/" + name), bash("sed -i s/a/b/ " + base + "/" + name),
				bash("git diff --output=" + base + "/" + name), bash("sort x -o " + base + "/" + name), bash("cat <<E > " + base + "/" + name + "\nx\nE"), bash("sed -n 'w " + base + "/" + name + "' x"),
			} {
				for _, mode := range []Mode{ModeAcceptEdits, ModeBypass} {
					p := testPolicy(mode, "Edit", "Write", "Edit(//**)", "Bash(cat:*)")
					if d := Decide(p, r); d.Effect != Ask || !d.Always {
						t.Errorf("%s: %s %s%s: %s (%s)", mode, r.Tool, r.Path, r.Command, d.Effect, d.Reason)
					}
				}
			}
		}
	}
}

func TestFilesOfTheProjectAreItsOwn(t *testing.T) {
	for _, name := range plainFiles {
		for _, r := range []Request{{Tool: "Write", Path: testCwd + "/" + name}, bash("echo x > " + name), bash("cp x " + name)} {
			if d := Decide(testPolicy(ModeBypass), r); d.Effect != Allow {
				t.Errorf("%s%s: %s (%s)", r.Path, r.Command, d.Effect, d.Reason)
			}
		}
	}
	if d := Decide(testPolicy(ModeAcceptEdits), Request{Tool: "Write", Path: testCwd + "/conftest.py"}); d.Effect != Allow {
		t.Errorf("%+v", d)
	}
}

// Goal: what an agent or a service obeys may be read; only a change of it asks.
func TestObeyedFilesMayBeRead(t *testing.T) {
	for _, name := range []string{"AGENTS.md", "CLAUDE.md", ".agent/MEMORY.md", ".agent/state.json", ".github/workflows/ci.yml", ".pre-commit-config.yaml", ".gitlab-ci.yml", "sitecustomize.py"} {
		for _, command := range []string{"cat NAME", "head -20 NAME", "wc -l NAME", "grep -n x NAME", "rg x NAME", "ls -l NAME", "git diff NAME", "git log -- NAME", "git blame NAME", "cat README NAME | head", "diff NAME README", "stat NAME", "test -f NAME"} {
			if d := Decide(lookingPolicy(ModeDefault), bash(strings.ReplaceAll(command, "NAME", name))); d.Effect != Allow {
				t.Errorf("%s: %s: %s (%s)", command, name, d.Effect, d.Reason)
			}
		}
		for _, command := range []string{"sed -n 1,200p NAME", "sed -n '1,$p' NAME", "git add NAME", "git commit -m x NAME", "find . -name NAME", "nl NAME"} {
			if d := Decide(lookingPolicy(ModeBypass), bash(strings.ReplaceAll(command, "NAME", name))); d.Effect != Allow {
				t.Errorf("%s: %s: %s (%s)", command, name, d.Effect, d.Reason)
			}
		}
		if d := Decide(lookingPolicy(ModeDefault), Request{Tool: "Read", Path: testCwd + "/" + name}); d.Effect != Allow {
			t.Errorf("Read %s: %s (%s)", name, d.Effect, d.Reason)
		}
	}
	for _, command := range []string{"prettier --write *.md", "rm *.yml", "cp *.py x", "git commit -m 'Change AGENTS.md'", "grep -rn AGENTS.md .", "ls */*.md"} {
		if d := Decide(lookingPolicy(ModeBypass), bash(command)); d.Effect != Allow {
			t.Errorf("%s: %s (%s)", command, d.Effect, d.Reason)
		}
	}
	for _, command := range []string{"rm AGENTS.*", "rm AGENT?.md", "cp x CLAUDE.m[d]", "find . -name AGENTS.md -delete", "find . -name AGENTS.md -exec rm {} +", "mv x .github/work*/y", "rm ./AGENTS.md", "f=AGENTS.md; rm $f", "git mv x AGENTS.md", "git rm AGENTS.md"} {
		if d := Decide(lookingPolicy(ModeBypass), bash(command)); d.Effect != Ask {
			t.Errorf("%s: %s (%s)", command, d.Effect, d.Reason)
		}
	}
}

// Goal: an index of the memory that lies among a project's own files is no less obeyed than one in .agent: every session
// begins with it. It may be read, and what only has its name elsewhere is a file like others.
func TestIndexOfTheMemoryAmongTheProjectsFiles(t *testing.T) {
	index := testCwd + "/MEMORY.md"
	decide := func(mode Mode, r Request) Decision {
		p := lookingPolicy(mode, "Edit", "Write")
		p.Obeyed = []string{index}
		return Decide(p, r)
	}
	for _, mode := range []Mode{ModeAcceptEdits, ModeBypass} {
		for _, r := range []Request{
			{Tool: "Write", Path: index}, {Tool: "Edit", Path: testCwd + "/memory.md"}, bash("echo x >> MEMORY.md"), bash("cp x ./MEMORY.md"), bash("sed -i s/a/b/ MEMOR?.md"), bash("rm " + index),
		} {
			if d := decide(mode, r); d.Effect != Ask || !d.Always {
				t.Errorf("%s: %s %s%s: %s (%s)", mode, r.Tool, r.Path, r.Command, d.Effect, d.Reason)
			}
		}
	}
	for _, r := range []Request{
		bash("cat MEMORY.md"), bash("git add MEMORY.md"), bash("prettier --write *.md"), bash("echo x > sub/MEMORY.md"), bash("echo x > MEMORY.md.txt"), {Tool: "Write", Path: testCwd + "/docs/MEMORY.md"},
	} {
		if d := decide(ModeBypass, r); d.Effect != Allow {
			t.Errorf("%s %s%s: %s (%s)", r.Tool, r.Path, r.Command, d.Effect, d.Reason)
		}
	}
}
