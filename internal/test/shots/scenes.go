package main

// scenes are played in this order, each from the shell's prompt back to it.
var scenes = []func(*terminal) error{conversation, picker, desk}

// first runs what can fail, one after the other.
func first(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// seeing, taking, doing and typing are steps.
func (t *terminal) seeing(words ...string) func() error {
	return func() error { return t.see(words...) }
}

func (t *terminal) taking(name string) func() error { return func() error { return t.take(name) } }

func (t *terminal) doing(line string) func() error { return func() error { return t.run(line) } }

func (t *terminal) pressing(names ...string) func() error {
	return func() error { t.keys(names...); return nil }
}

func (t *terminal) typing(line string) func() error {
	return func() error { t.line(line); return nil }
}

// conversation is a person who has a bug repaired.
func conversation(t *terminal) error {
	return first(
		t.doing("true"),
		t.typing("clear; perdure --name two-digit-years"),
		t.seeing("what is to be done?"),
		t.typing("The test fails for years of two digits. Please fix it."),
		t.seeing("1 approval waits"),
		t.pressing("C-o"), t.seeing("no rule allows", "year += 2000"), t.taking("approval"),
		t.pressing("y"), t.seeing("go test", "approval waits"),
		t.pressing("C-o"), t.seeing("no rule allows", "go vet"), t.pressing("s"),
		t.seeing("All tests pass."),
		t.taking("conversation"), func() error { return t.draw("conversation-light", light) },
		t.pressing("Tab", "Up", "Up", "Up", "Enter"), t.taking("diff"),
		t.pressing("Escape"), t.typing("/plan"), t.seeing("3 of 3 done"), t.taking("plan"), t.pressing("Escape"),
		t.typing("/context"), t.seeing("% "), t.taking("context"), t.pressing("Escape"),
		t.pressing("C-d"), t.seeing("perdure -r"),
	)
}

// picker is a person who looks for a session of before.
func picker(t *terminal) error {
	return first(
		t.doing(`perdure -p --name names-of-months "Write the names of the months in the README."`),
		t.doing(`perdure -p --name leap-years "Which years are leap years?"`),
		t.doing(`cd ../notes; perdure -p --name ideas "Take a note."; cd ../almanac`),
		t.typing("clear; perdure -r"), t.seeing("leap-years", "two-digit-years"), t.taking("picker"),
		t.pressing("Escape"),
	)
}

// desk is a person who looks after several.
func desk(t *terminal) error {
	return first(
		t.doing(`perdure start --name release "Publish the release."`),
		t.doing(`perdure start --name long-run --allowed-tools Bash "Check all days of 400 years."`),
		t.typing("clear; perdure board"), t.seeing("release", "long-run", "waits for you", "working"),
		t.pressing("Down"), t.taking("board"),
		t.pressing("q"), t.doing("perdure delete -y long-run release"),
		t.doing("sleep 2"),
	)
}
