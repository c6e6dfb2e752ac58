package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// damaged is a home whose database is damaged again and again, and what its commands say while it is sound.
type damaged struct {
	*clitest.World
	files map[string][]byte // of the database, as they are when sound
	ids   []string
	sound map[string]string // what each command prints then
}

// looks are the commands that look at a home, and at some sessions in it.
func (d *damaged) looks(ids ...string) (commands [][]string) {
	commands = [][]string{{"list", "--json"}, {"list"}, {"verify", "--all"}, {"doctor"}, {"task", "list", "--json"}}
	for _, id := range ids {
		commands = append(commands, []string{"show", id, "--json"}, []string{"log", id, "--json"}, []string{"verify", id})
	}
	return commands
}

// said is what is compared of a command's outcome. What doctor says of the machine changes by itself.
func said(o clitest.Outcome) string {
	if o.Args[0] == "doctor" {
		return fmt.Sprint(o.Code)
	}
	return fmt.Sprint(o.Code, o.Stdout)
}

// newDamaged makes a home that has something in every table, in more than a page. Wal: what was written last is in the
// write-ahead log.
func newDamaged(t *testing.T, wal bool) *damaged {
	t.Helper()
	d := &damaged{World: clitest.New(t), files: map[string][]byte{}, sound: map[string]string{}}
	user := store.Actor{Type: store.ActorUser}
	for i := range 8 {
		id := fmt.Sprintf("s%02d", i)
		d.Create(id)
		d.ids = append(d.ids, id)
		var bodies []session.Body
		for n := range 6 {
			bodies = append(bodies, &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart(strings.Repeat(fmt.Sprintf("%s says %d. ", id, n), 40+200*(i%3)))}})
		}
		d.Append(id, user, append(bodies, &session.StateSet{Key: "k", Value: []byte(strings.Repeat(id, 300))}, &session.FactAdded{Fact: session.Fact{Kind: "fact", Text: id, Provenance: "user"}})...)
		d.OK("rename", id, "name of "+id)
		if i%4 == 0 {
			d.OK("fork", id, "--name", "fork of "+id)
		}
		if i%3 == 0 {
			d.OK("send", id, strings.Repeat("later ", 50))
		}
	}
	if wal { // whether the last one above was followed by a checkpoint depends on the size of what is written
		if info, err := os.Stat(filepath.Join(d.Home, "perdure.db-wal")); err != nil || info.Size() < 300<<10 {
			d.Append("s07", user, &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart(strings.Repeat("more ", 60<<10))}})
		}
	}
	h := d.Open("{}") // what was written last is an item: the mark knows of it, and of no lease that was given back
	if _, err := h.Send(t.Context(), "s00", "", "the last"); err != nil {
		t.Fatal(err)
	}
	d.Close(h)
	if !wal {
		copied := filepath.Join(t.TempDir(), "copy")
		d.OK("backup", copied)
		d.Home = copied
		d.App.Environ = append(d.App.Environ, "PERDURE_HOME="+copied)
		d.App.Environ = slices.DeleteFunc(d.App.Environ, func(kv string) bool { return strings.HasPrefix(kv, "PERDURE_HOME=") && !strings.HasSuffix(kv, copied) })
	}
	entries, err := os.ReadDir(d.Home)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range d.looks(d.ids...) {
		o := d.Run(command...)
		if o.Code != 0 || o.Stderr != "" {
			t.Fatalf("%+v", o)
		}
		d.sound[strings.Join(command, " ")] = said(o)
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			if d.files[e.Name()], err = os.ReadFile(filepath.Join(d.Home, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	return d
}

// spoil puts the files back as they were, but for some bytes of one.
func (d *damaged) spoil(name string, change func([]byte)) {
	d.T.Helper()
	for file, b := range d.files {
		if file == name {
			b = slices.Clone(b)
			change(b)
		}
		if err := os.WriteFile(filepath.Join(d.Home, file), b, 0o600); err != nil {
			d.T.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(d.Home, "perdure.db-shm")); err != nil && !os.IsNotExist(err) {
		d.T.Fatal(err)
	}
}

// hit damages a page in one of the ways in which disks do it.
func hit(rng *rand.Rand, page []byte) string {
	at := rng.IntN(len(page))
	switch rng.IntN(5) {
	case 0:
		page[at] ^= 1 << rng.IntN(8)
		return fmt.Sprintf("a bit at %d", at)
	case 1:
		page[at] = byte(rng.IntN(256))
		return fmt.Sprintf("a byte at %d", at)
	case 2:
		end := min(len(page), at+1+rng.IntN(64))
		for i := at; i < end; i++ {
			page[i] = byte(rng.IntN(256))
		}
		return fmt.Sprintf("%d to %d", at, end)
	case 3:
		for i := at &^ 511; i < at&^511+512 && i < len(page); i++ {
			page[i] = 0
		}
		return fmt.Sprintf("a sector of zeros at %d", at&^511)
	}
	for i := range page {
		page[i] = byte(rng.IntN(256))
	}
	return "all of it"
}

// judge runs the looks and says what is wrong with what they say: something that is not so and stands there without a
// word, or a fault without a remedy. Of a listing, which is a copy without a digest, and of the messages that wait, it is
// enough that a check tells it.
func (d *damaged) judge(ids ...string) (wrong []string) {
	silent, told := "", false
	for _, command := range d.looks(ids...) {
		o, key := d.Run(command...), strings.Join(command, " ")
		told = told || o.Code != 0 && (command[0] == "verify" || command[0] == "doctor")
		all := o.Stdout + o.Stderr
		switch {
		case said(o) == d.sound[key]:
		case o.Code == 0 && o.Stderr == "" && (command[0] == "list" || command[0] == "show" && settled(o.Stdout) == settled(d.sound[key])):
			silent = key + ": " + parts(o.Stdout, d.sound[key])
		case o.Code == 0 && o.Stderr == "":
			wrong = append(wrong, fmt.Sprintf("perdure %s says nothing of it:\n%s", key, parts(o.Stdout, d.sound[key])))
		case !strings.Contains(all, "backup") && !strings.Contains(all, "perdure verify"):
			wrong = append(wrong, fmt.Sprintf("perdure %s names no remedy, exit %d:\n%.300s\n%.500s", key, o.Code, o.Stdout, o.Stderr))
		}
	}
	if silent != "" && !told {
		wrong = append(wrong, fmt.Sprintf("what waits or is listed is wrong, and neither verify nor doctor say so: %s", silent))
	}
	return wrong
}

// Goal: a page of the database is damaged, each of them in turn. Nothing panics, nothing that is wrong is shown as right,
// each fault names a remedy, and a session that verify calls sound is shown as before.
func TestDamagedPages(t *testing.T) { damagePages(t, false, "perdure.db", 4096, 0) }

// Goal: a name that is changed in the database, wherever it stands, into another that could be one is told.
func TestChangedName(t *testing.T) {
	d := newDamaged(t, false)
	listed, name, other := 0, []byte("name of s03"), []byte("name of s93")
	sound := d.files["perdure.db"]
	for at := bytes.Index(sound, name); at >= 0; {
		d.spoil("perdure.db", func(b []byte) { copy(b[at:], other) })
		for _, wrong := range d.judge("s03") {
			t.Errorf("at %d: %s", at, wrong)
		}
		if o := d.Run("verify", "s03"); o.Code == app.ExitFailed && strings.Contains(o.Stdout, "was so at no event") {
			listed++
		}
		next := bytes.Index(sound[at+1:], name)
		if at += 1 + next; next < 0 {
			break
		}
	}
	if listed != 1 {
		t.Errorf("%d places are the listing's", listed)
	}
}

// Goal: the same for the frames of the write-ahead log.
func TestDamagedFrames(t *testing.T) { damagePages(t, true, "perdure.db-wal", 4096+24, 32) }

func damagePages(t *testing.T, wal bool, name string, page, header int) {
	d := newDamaged(t, wal)
	rounds, seed, step := 1, uint64(1), 1
	if os.Getenv("PERDURE_SOAK") != "" {
		rounds, seed = 20, rand.Uint64()
	} else if wal {
		step = max(1, (len(d.files[name])-header)/page/60) // there are many, and each is checked by SQLite
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	pages := (len(d.files[name]) - header) / page
	if pages < 50 {
		t.Fatalf("%s has %d pages", name, pages)
	}
	t.Logf("%d pages, seed %d", pages, seed)
	for range rounds {
		for p := 0; p < pages; p += step {
			what := ""
			d.spoil(name, func(b []byte) { what = hit(rng, b[header+p*page:header+(p+1)*page]) })
			for _, wrong := range d.judge(d.ids[rng.IntN(len(d.ids))], d.ids[rng.IntN(len(d.ids))]) {
				t.Errorf("page %d, %s: %s", p, what, wrong)
			}
		}
	}
}

// parts shows where two texts differ.
func parts(got, want string) string {
	want = strings.TrimPrefix(want, "0")
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	from := max(0, i-100)
	return fmt.Sprintf("…%.300s\nwas\n…%.300s", got[min(from, len(got)):], want[min(from, len(want)):])
}

// settled is what show says of a session but for the messages that wait.
func settled(shown string) string {
	var v map[string]any
	if json.Unmarshal([]byte(strings.TrimPrefix(shown, "0")), &v) != nil {
		return shown
	}
	delete(v, "inbox")
	return fmt.Sprint(v)
}
