// Package workspace cares for the directories that the sessions of one home work in: it captures their files as trees,
// restores them, and makes directories out of trees.
//
// A workspace is a directory by where it really lies; sessions that work in the same one share what is known of it, and
// take turns: one lease of the kernel for each workspace, held together by captures, alone by a restore. It is no lock of
// a session's: another session's work in the directory is somebody else's, which a restore keeps.
//
//	$PERDURE_HOME/blobs/                     the bytes (package blob)
//	$PERDURE_HOME/workspaces/KEY/root        where it lies, for people
//	$PERDURE_HOME/workspaces/KEY/stat        what is known of each file (package capture), a cache
//	$PERDURE_HOME/workspaces/KEY/lease       the lease
//	$PERDURE_HOME/workspaces/KEY/restores/   journals of restores that are not over (package restore)
package workspace
