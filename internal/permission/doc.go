// Package permission decides whether one tool call is allowed, asked of a
// human, or denied.
//
// # The model
//
// A [Policy] is a mode, a list of rules and grants, and the directories that
// count as inside. A [Request] is one tool call. [Decide] is a pure function of
// the two: no I/O, no clock, no randomness. Its steps, in this order:
//
//  1. Bytes that a human could not read as they run (controls, bidirectional
//     and zero-width characters, foreign spaces, more than 16 KiB) are refused
//     before parsing. No approval can help; the model must write another call.
//  2. A deny rule that matches denies, in every mode. For Bash it looks at every
//     command of the text: nested substitutions, function bodies, the inside of
//     wrappers (sudo, env, timeout, xargs, find -exec, sh -c …).
//  3. Mode plan denies BashInput, Write, Edit, changes of the memory, and Bash unless it only reads.
//  4. Deciding commands (perdure approvals, answer, permissions, takeover …) and
//     protected paths (Policy.Protected, .git, .perdure, and what [StartupFiles]
//     lists: files that programs execute from or obey) ask, in every mode, whatever is granted,
//     and so does a change of files that services and agents obey (workflows, AGENTS.md), and of what lies in
//     the directories that programs are found in (Policy.Programs).
//  5. An ask rule that matches asks, in every mode.
//  6. A rule or grant for exactly this command text allows.
//  7. A deny or ask rule that cannot be ruled out ($X -rf /) asks.
//  8. An allow rule or grant that covers the whole call allows.
//  9. A Bash call that only reads, inside, is allowed: see below.
//  10. The mode decides: see [Mode].
//
// # Rules
//
//	Read                 every call of the tool
//	Bash(npm test)       exactly this command, no other argument
//	Bash(git log:*)      commands whose first words are git log; also Bash(git log *)
//	Edit(src/**)         paths, relative to Policy.Root, absolute, or under ~/
//	mcp__github          every tool of that server
//
// Edit rules bind Write too, Read rules bind Glob, Grep and Artifact. A deny or ask on
// Read(x) binds Edit and Write: what may not be seen may not be changed. A deny
// or ask pattern without a slash holds at any depth and for everything below a
// directory that it names. Deny, ask and protected paths hold in any letter case
// and any form of Unicode (é as one character or as two, ß as ss), since some file
// systems take such names for one; an allow pattern holds for exactly what it says.
//
// # Words
//
// A word of a command that names, or may expand to, a path which a file rule denies makes the command ask, and so does
// one that names a protected path. No option hides a word. Compared are all forms that a word may take: with its
// patterns, its braces, and the values that its variables have in Policy.Env or get in the text, from every directory
// that a cd may have led to, and under both names of a directory in Policy.Links; and where [Policy.Look] says that
// they lead now, symbolic links followed. What cannot be known of a word, such as the output of a command, asks under a
// file rule, for the rule cannot be ruled out; it does not count as a protected path. Paths through
// /proc/PID/{cwd,root,fd,environ,mem,task,map_files} and /dev/fd always ask, because they lead to any file. Under a
// rule on reading, programs that read whole directories (grep -r, rg, cp -r, tar …) ask where they may come to such a
// file, and so do git commands that show or copy contents out of the repository (show, diff, log -p, stash show -p,
// grep, cat-file, archive …), unless they name paths none of which is, or holds, such a file; what only lists (--stat,
// status) does not. What a command does to the files by other means, a script that it runs for instance, is not seen.
//
// # Bash
//
// A command is allowed by prefix rules only when it is plainly understood: simple commands of literal words, joined by
// && || ; | or newlines, with nothing but descriptor duplication and redirects to /dev/null, where each simple command
// is covered by a rule. A rule for exactly one command does not cover it behind a pipe, unless what it reads there is
// data to it (head, wc …). Once a variable that chooses programs was changed (PATH, GIT_*, *PAGER …) prefix rules ask.
// Everything else asks, unless exactly that text was granted. Programs that run other programs or write files by an
// option (env, find, sed, xargs, tar, make, python, ssh …) always ask; git and go ask for the options and subcommands
// that execute or write elsewhere. Of git push, pull, fetch and ls-remote only the name of a remote is covered, and
// only where [Policy.Look] finds no file of that name. A bare allow rule Bash covers everything that parses: only
// explicit deny and ask rules, protected paths and deciding commands still hold.
//
// # Commands that only read
//
// ls, cat, head, tail, wc, pwd, grep, rg, find without actions, echo, printf,
// true, false, test, stat, file, du, df, date, which, basename, dirname, sort,
// uniq, cut, tr, diff, cmp, tree, and of git status, log, diff, show, branch,
// tag and stash list, rev-parse, ls-files, blame, describe, remote -v and
// shortlog run without a rule in every mode, alone or joined, and beside commands
// that a rule covers. Each option is on a list of those that neither write nor
// run anything nor follow links; any other asks. Every path that a word or a file
// pattern can become has to lie in the session's directories, links followed
// ([Policy.Look]), and must not be protected or hidden by a rule. Where a rule
// hides files from being read, commands that choose files themselves (grep -r,
// rg, git diff and git log -p that name no other paths) ask; names of hidden files are shown. So do git
// commands that show content where the repository begins above the session's
// directories. Behind a command that a rule covers, which may change where paths
// lead, a path asks, and behind cd everything does. An environment
// that was changed so that names mean other programs makes all of them ask.
//
// What a repository's own configuration makes git status or git diff run is run:
// it is the person's. Repositories that lie below as plain files are not found,
// which rests on safe.bareRepository=explicit in the environment of commands
// (git 2.38 or later), a duty of whoever runs them.
//
// # BashInput
//
// What is typed into a running program may be a command or not: the text does not
// tell. Deny and ask rules for Bash, protected paths and deciding commands
// therefore bind it as if it were one, and what cannot be told from the text
// asks; allow rules and grants for Bash never cover it. Without a rule BashInput
// it asks in every mode but bypassPermissions, mode plan denies it, and no grant
// is offered for it. A command that is typed in pieces, or by keys that recall or
// complete one, is not recognised.
//
// # What this is not
//
// Matching stops accidents and prompt noise. It is no boundary: an allowed
// program can still do anything that the user can do, a repository's own
// configuration can make plain git status execute a program, and a program that
// is not on our lists may take an option that runs another. The boundary is the
// sandbox, and a human who reads before approving.
//
// # The caller's duties
//
//   - Resolve symbolic links before the call and put the result in Request.Path;
//     set Policy.Look, without which links in the words of commands are not seen.
//   - Run exactly the bytes that were judged, with bash --noprofile --norc and
//     an environment that imports no functions; with another shell use only
//     exact rules.
//   - Grep and Glob must leave out every file for which [Hidden] is true.
//   - Bind a human's approval to the digest of the arguments, and decide again
//     after every interruption.
//   - Keep [MatcherVersion] with a stored grant; an upgrade may narrow a grant,
//     never widen it.
package permission
