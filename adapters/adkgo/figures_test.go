package adkgo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/glebarez/sqlite"
	adk "google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/database"
	"google.golang.org/genai"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/perdure/perdure/adapters/adkgo"
)

// Goal: an event is appended, and a session of 500 events is read, in no more time than ADK's own SQLite service takes,
// which syncs each commit as well. Both in one run, round by round.
func TestFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	peer, err := database.NewSessionService(sqlite.Open(filepath.Join(t.TempDir(), "adk.db")), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := database.AutoMigrate(peer); err != nil {
		t.Fatal(err)
	}
	var appends, reads [2][]float64
	for round := range 9 {
		for i, s := range []adk.Service{service(t, adkgo.Options{}), peer} {
			a, r := figures(t, s, fmt.Sprint("round", round))
			appends[i], reads[i] = append(appends[i], a.Seconds()*1000), append(reads[i], r.Seconds()*1000)
		}
	}
	for _, all := range [][2][]float64{appends, reads} {
		slices.Sort(all[0])
		slices.Sort(all[1])
	}
	t.Logf("append: %.2f ms, ADK's SQLite service %.2f ms: %.2f (1)", appends[0][4], appends[1][4], appends[0][4]/appends[1][4])
	t.Logf("read of 500 events: %.1f ms, ADK's SQLite service %.1f ms: %.2f (1)", reads[0][4], reads[1][4], reads[0][4]/reads[1][4])
}

// figures gives the time of one append and of a read of all.
func figures(t *testing.T, s adk.Service, id string) (one, all time.Duration) {
	t.Helper()
	r, err := s.Create(t.Context(), &adk.CreateRequest{AppName: "app", UserID: "user", SessionID: id})
	if err != nil {
		t.Fatal(err)
	}
	const events = 500
	start := time.Now()
	for i := range events {
		e := adk.NewEvent(t.Context(), "invocation")
		e.Author = "agent"
		e.Content = genai.NewContentFromText(fmt.Sprintf("the %d. answer of a model, which is a few hundred bytes long: %0300d", i, i), genai.RoleModel)
		e.Actions.StateDelta = map[string]any{"n": i}
		if err := s.AppendEvent(t.Context(), r.Session, e); err != nil {
			t.Fatal(err)
		}
	}
	one = time.Since(start) / events
	start = time.Now()
	got, err := s.Get(t.Context(), &adk.GetRequest{AppName: "app", UserID: "user", SessionID: id})
	if err != nil || got.Session.Events().Len() != events {
		t.Fatal(err)
	}
	return one, time.Since(start)
}
