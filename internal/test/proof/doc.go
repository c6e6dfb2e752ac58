// Package proof holds the campaigns that kill the real perdure binary and judge what is left, and the figures that the
// README shows of them.
//
// # The model
//
// A round is one session against the strict model server of internal/test/modeltest: a conversation made of a seed, with
// thinking, parallel calls, edits, commands, a background task and a faulty network. Its agent is killed by SIGKILL
// several times, after a random delay or at a marked moment, and resumed until the work is done. Meanwhile a follower
// remembers every event that anybody was told is durable. Then the evidence is gathered, as plain data, and judged
// against the plan: what was lost, ran twice, was refused, or came back wrong.
//
// Every judgement has a control: evidence that was doctored, a home that was set back to an older copy, a request that
// was changed on its way. A control that is not caught fails the test.
//
// # The caller's duties
//
// A plain go test runs at least 50 kills; PERDURE_SOAK=1 runs 1,000. PERDURE_PROOF=1, which is make proof, runs them
// too, adds the figures of the simulator and of the power-loss campaign, and writes figures.json and the part of
// README.md between its markers. A plain test fails when these two disagree. PERDURE_PROOF=others measures all but the
// kills anew; PERDURE_PROOF=render only writes the README, after a change of words.
package proof
