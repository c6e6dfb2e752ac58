// Package sim is a world in which an agent can be killed at every instant.
//
// A [World] holds what outlives a process: a store's disk, a filesystem, commands under their shims, a model API, a
// human, and outside effects that are counted. A process of it is the real engine over wrappers that may die: before
// an append, after its commit but before the acknowledgement, before and after every effect. Once dead, every wrapper
// of that process refuses, so that whatever of it still runs can do nothing; the next process opens the same session
// and goes on.
//
// The script that the model plays is chosen by the conversation alone, so a run that was killed must end as one that
// was not: [World.Outcome] is what is compared, and [World.Check] says what must hold in any case. Time is that of
// a testing/synctest bubble.
//
// Duties of the caller: call [World.Run] inside a bubble; make a new World for each run.
package sim
