// Package task runs commands that outlive the agent that started them.
//
// # The model
//
// Every command runs under a shim: a hidden re-exec of the same binary, in a session of its own, child subreaper of
// everything the command starts, holding a file lock for its life. The shim and the agent share nothing but a
// directory, so that either may die and the other, or a successor, still finds the truth there:
//
//	Dir/<session>/<act id>/
//	  spec.json          what to run and under which boot; the directory appears complete, by a rename
//	  plan               the same as raw bytes, environment included, for shim and exec stage
//	  script             the shell text, byte for byte, when it is too long for an argument or not for plain bash
//	  init.sh, capture   how the shell reports its end, and what it reported (only with command.Spec.Capture)
//	  lock               flock held by the shim for its life; its content names the shim's process and its stand-in
//	  claim              who decided the act: "1 run" or "1 void"; made by link(2), so exactly one wins
//	  claim.run          what the shim links to claim
//	  run.json           pid, process group, start ticks, boot id; written before the command may run
//	  out.fifo           stdout and stderr of the command; held open by shim, command and whoever started or waits
//	  in.fifo            what is written to the command (only with command.Spec.Stdin or TTY)
//	  in.closed, detached, tty.size   what was asked of the shim since: no more input, no timeout, another size
//	  out.<16 hex>       segments of the output; the name is the absolute offset of their first byte
//	  intent.json        who asked for the command's death, synced before any signal; blank until then
//	  exit.json          exit code or signal, length of the output, captured directory and environment
//	  exit.spare         room for exit.json, so that a full disk does not hide how the command ended; until then it
//	                     says how far output had to be dropped
//	  ended              what wait(2) told the shim, from that moment until exit.json is written
//	  nogo               the exec stage exited without becoming the command, because its shim had died
//	  unread.<16 hex>    output may be missing from this offset on: for a time nobody held the FIFO
//	  shim.log           what the shim had to complain about
//
// Whoever first creates claim decides the act. The shim takes the lock, claims "run", starts an exec stage that blocks
// on a pipe, writes run.json with the stage's identity, and only then sends the go byte upon which the stage becomes
// the command under the same pid. End of file instead of the byte makes the stage exit without exec. A recoverer that
// finds no claim claims "void", and a late shim exits. What follows from a directory is therefore never a guess; the
// first line that applies holds:
//
//	exit.json                                   exited or killed, with its real code or signal
//	claim void                                  absent: it will never run
//	lock busy                                   running
//	other boot id                               lost (reboot)
//	no claim, lock free                         absent, and final once Settle has claimed it void
//	claim run, no run.json, lock free           absent: no go byte was ever sent
//	nogo, lock free                             absent, for the same reason
//	run.json, lock free and another file than   lost (copied): this is a copy of the directory, and the command
//	  the one that run.json names               belongs to the original; nothing of it is touched
//	run.json, lock free, process there          running, orphaned (its shim died), a zombie included
//	run.json, lock free, process gone           lost (shim_died); never run again
//	no directory                                lost (dir_missing)
//
// On Linux each shim has a stand-in: a fork of it that sleeps until the shim dies, holding the FIFO and a handle of the
// command, and then becomes the replacement. So agent and shim may die in the same instant, and nothing that the command
// prints, nor how it ends, is lost. The stand-in has hardly any memory of its own, and ends with the shim's work. It waits
// until the dying shim has let go of the lock, and any other replacement leaves the act to it while it lives.
//
// An orphan without one is adopted by whoever looks: by the process that started it at once, else by Wait, Look,
// Settle, Kill and Remove. A replacement shim takes the lock, opens the FIFO, goes on at the offset where the segments
// end, and finds the command's processes again by descent, session and the variable PERDURE_ACT in their environment.
// It is not their parent, so it asks the kernel how the command ended: the process table as long as nobody has reaped
// it, after that, on newer kernels, the handle that it or whoever called it held before. Only when all of that fails
// the code is lost. Timeouts and kills go on under it.
//
// Only exit.json and intent.json are synced. Under one boot the page cache keeps every write, whoever dies; after a
// reboot the boot id of spec.json differs, or spec.json is torn or gone, and everything without a complete exit.json
// is lost, whatever else survived. That is why run.json has to be written before the go byte but not synced.
//
// Output flows through a FIFO that the command holds open for reading and writing, so that neither the death of the
// shim nor a script that truncates /dev/stdout hurts it. The shim moves it into fixed-size segments and keeps the first
// and the last ones, command.Spec.KeepBytes in all. On Linux a byte is moved within one system call, so that it is
// always in the one place or in the other, whoever dies. Offsets are absolute and a hole between two segments is the
// gap that Read reports: there rotation removed bytes, or a full disk, the session's bound or the floor of free space
// refused them. The disk never blocks a command. What the FIFO holds is lost only when all of command, descendants,
// shim, stand-in and the processes that started it or wait for it are dead. The next shim sees that by the pipe, which
// is another one then, and command.State.MissingAfter says from where on output may be missing, whether or not the pipe
// held any.
//
// Identity is pid, start ticks and boot id, checked after a pidfd is open. A zombie is dead. On Linux the whole tree
// dies with Kill, processes that left the group or the session included; elsewhere that is best effort.
//
// # Limits
//
// Processor time and open files are rlimits of each process. Wall time is the shim's. Memory is that of a cgroup with
// the command alone in it, where the unified hierarchy has a group above the shim's that hands the memory controller to
// its children and may be written to; run.json names it then. It is made before the go byte, ended with cgroup.kill
// among the rest, and removed when the tree is gone. Elsewhere memory is the address space of each process, which the
// stage bounds last of all. The cgroup's file protocol is tested against a directory that stands in for the kernel's
// files, and by "make machine" on a kernel with the unified hierarchy.
//
// # Two sides
//
// The agent's side (Runner, Terminal) starts commands and finds them again; the shim's keeps one. They meet in the
// directory and use nothing of each other but what both have in common: its formats and the system's processes. Each
// file belongs to one of the three, and a test holds them apart (sides_test.go).
//
// # The caller's duties
//
// Call RunShimIfAsked first thing in main (and in TestMain), or set Runner.Exe to a program that does. Call
// Runner.Prepare before recording that the act has started: from then on a missing directory is no proof that nothing
// ran, and is reported as lost. Give every attempt its own act id. After a crash call Settle, then Wait; of what runs
// on in the background call Look now and then. Call Remove when the outcome and the output are safe elsewhere. Times
// are milliseconds UTC, sizes are bytes.
package task
