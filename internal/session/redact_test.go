package session_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

const leak = "tok_canary_90b1c2d3e4f5"

func hideLeak(b []byte) []byte { return bytes.ReplaceAll(b, []byte(leak), []byte("[secret:TOK]")) }

// fillTexts puts the secret into every text of a value, lists and maps included, and gives the names of the fields.
func fillTexts(v reflect.Value, name string, names map[string]bool) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString("x " + leak)
			names[name] = true
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.Set(reflect.ValueOf([]byte("x " + leak)).Convert(v.Type()))
			names[name] = true
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillTexts(v.Index(0), name, names)
	case reflect.Map:
		k, item := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillTexts(k, name, names)
		fillTexts(item, name, names)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(k, item)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillTexts(v.Elem(), name, names)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[model.Part]() {
			v.Set(reflect.ValueOf(model.TextPart("x " + leak)))
			names["Part.Data"] = true
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() || f.Anonymous {
				fillTexts(v.Field(i), v.Type().Name()+"."+f.Name, names)
			}
		}
	default:
	}
}

// holding gives the names of the fields that hold the secret.
func holding(v reflect.Value, name string, names map[string]bool) {
	switch v.Kind() {
	case reflect.String:
		if strings.Contains(v.String(), leak) {
			names[name] = true
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 && bytes.Contains(v.Bytes(), []byte(leak)) {
			names[name] = true
		}
		for i := range v.Len() {
			holding(v.Index(i), name, names)
		}
	case reflect.Map:
		for k, item := range v.Seq2() {
			holding(k, name, names)
			holding(item, name, names)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			holding(v.Elem(), name, names)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() || f.Anonymous {
				holding(v.Field(i), v.Type().Name()+"."+f.Name, names)
			}
		}
	default:
	}
}

// keptTexts are all fields of all kinds in which a known value stays as it is, each with its reason in Redact. A field
// that this list does not name is replaced: one that is new must not slip in by its name.
var keptTexts = strings.Fields(`
	Agent.APIVersion Agent.Betas Agent.Model Agent.Provider Agent.Tools ApprovalAnswered.Act
	ApprovalRequested.Act ApprovalRequested.Cwd Artifact.Act Artifact.Media Await.Act Await.ID Await.Key
	Await.Session Await.Task Await.TaskAct AwaitDropped.ID AwaitMet.ID AwaitMet.Task AwaitPosition.ID
	CheckpointRequested.Key Compacted.By Compacted.In Compacted.Reason Config.Mode Config.Root Configured.AddDirs
	Configured.Mode Configured.Model Configured.Provider Edit.Path Ending.By Ending.Signal File.Path
	FilesCaptured.Act FilesCaptured.Dir Forked.ID Forked.Owner Imported.Cwd Imported.From Imported.Root
	InboxRefused.Key Input.Act Input.Key MessageReceived.Key MessageWithdrawn.Key ModelFailed.Act
	ModelFailed.Class ModelFailed.Model ModelLost.Act ModelLost.Model ModelRequested.Act ModelRequested.Model
	ModelRequested.Purpose ModelRequested.Reason ModelResponded.Act ModelResponded.Model ModelResponded.Provider
	Opened.Cwd Opened.Dirs Opened.ID Opened.Owner PermissionGranted.Cwd PermissionGranted.Scope Position.Session
	QuestionAnswered.Act QuestionAsked.Act Range.Session RestoreRequested.Key RestoreStarted.Dir Resumed.BootID
	Rule.Effect Rule.Source SealedBlock.ID SealedBlock.Input SealedBlock.Name SealedBlock.Raw SealedBlock.Shown
	Start.BootID Start.Task State.BootID State.By State.Cwd State.Signal Task.Act Task.BootID Task.Cause Task.Cwd
	Task.ID Task.Key Task.Kill Task.Restart Task.Session TaskAttempt.Act TaskExited.Task TaskInput.Key
	TaskInput.Task TaskNotRestarted.Task TaskRead.Task TaskRequested.Act TaskRequested.Cause TaskRequested.Cwd
	TaskRequested.Key TaskRequested.Restart TaskRequested.Task TaskRestartSet.Restart TaskRestartSet.Task
	TaskSignalled.By TaskSignalled.Signal TaskSignalled.Task TaskWritten.Key TaskWritten.Task TimerFired.ID
	TimerSet.ID TitleGiven.Model TitleRequested.Model ToolDecided.Act ToolDetached.Act ToolDetached.Task
	ToolFinished.Act ToolFinished.Cwd ToolFinished.Output ToolStarted.Act ToolUnknown.Act ToolVoid.Act
	TurnEnded.Stop
`)

// TestRedactIsTotal: in every text field of every kind a known value is replaced, but for the listed ones.
func TestRedactIsTotal(t *testing.T) {
	kept, filled, used := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, k := range kinds {
		body := emptyBody(k)
		fillTexts(reflect.ValueOf(body).Elem(), "", filled)
		for _, name := range session.Redact(body, hideLeak) {
			used[name] = true
		}
		holding(reflect.ValueOf(body).Elem(), "", kept)
	}
	var got []string
	for name := range kept {
		got = append(got, name)
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(keptTexts))
	if !slices.Equal(got, want) {
		t.Errorf("kept as they are:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(filled) < 100 || len(used) < 8 {
		t.Errorf("%d texts were filled, %d used ones replaced: the test looks at nothing", len(filled), len(used))
	}
}

// TestRedactCopies: what a body shares with the state is not changed.
func TestRedactCopies(t *testing.T) {
	title := "x " + leak
	labels, rules := map[string]string{"k": leak}, []session.Rule{{Text: leak}}
	b := &session.Labelled{Title: &title, Labels: labels}
	r := &session.PermissionRules{Rules: rules}
	session.Redact(b, hideLeak)
	session.Redact(r, hideLeak)
	if title != "x "+leak || labels["k"] != leak || rules[0].Text != leak {
		t.Error("what was handed in is changed")
	}
	if *b.Title != "x [secret:TOK]" || b.Labels["k"] != "[secret:TOK]" || r.Rules[0].Text != "[secret:TOK]" {
		t.Errorf("replaced: %q, %q, %+v", *b.Title, b.Labels, r.Rules)
	}
}
