package session

import (
	"maps"
	"reflect"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/model"
)

// Redact replaces known values in all texts of a body, so that a new kind, or a new field, is covered without being
// named here. What it replaced in a field whose words are used as they stand (a command, what is typed, a rule) is
// returned by the field's name: such a body no longer means what was asked for, and whoever can refuse it does.
//
// Kept as they are: names that something else refers to, paths at which something must be found again (whoever fills
// these in refuses a path that holds a known value), and the bytes of a sealed reply, which the model's API wants back
// as they came.
func Redact(b Body, replace func([]byte) []byte) (used []string) {
	r := redactor{replace: replace}
	r.fields(reflect.ValueOf(b).Elem())
	return r.used
}

type redactor struct {
	replace func([]byte) []byte
	used    []string
	changes int // fields replaced
}

// fields replaces in the fields of a struct, in place.
func (r *redactor) fields(v reflect.Value) {
	t := v.Type()
	if t == reflect.TypeFor[model.Part]() && v.Interface().(model.Part).Type != model.BlockText {
		return // an image or a document
	}
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case !f.IsExported() && !f.Anonymous:
			continue
		case f.Type.Kind() == reflect.Struct:
			r.fields(v.Field(i))
			continue
		case isExact(t.Name(), f.Name):
			continue
		}
		if now, changed := r.value(v.Field(i)); changed {
			v.Field(i).Set(now)
			r.changes++
			if isUsed(t.Name(), f.Name) {
				r.used = append(r.used, t.Name()+"."+f.Name)
			}
		}
	}
}

// value gives what takes the place of a value. What a body shares with others (lists, maps, what pointers lead to) is
// copied before it is changed.
func (r *redactor) value(v reflect.Value) (now reflect.Value, changed bool) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() != reflect.TypeFor[string]() {
			return v, false // a word of a closed list
		}
		clean := string(r.replace([]byte(v.String())))
		return reflect.ValueOf(clean), clean != v.String()
	case reflect.Slice:
		return r.list(v)
	case reflect.Map:
		return r.table(v)
	case reflect.Pointer:
		if v.IsNil() {
			return v, false
		}
		now, changed = r.value(v.Elem())
		if changed {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(now)
			return p, true
		}
	case reflect.Struct:
		before := r.changes
		now = reflect.New(v.Type()).Elem()
		now.Set(v)
		r.fields(now)
		return now, r.changes > before
	default:
	}
	return v, false
}

func (r *redactor) list(v reflect.Value) (now reflect.Value, changed bool) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		clean := r.replace(v.Bytes())
		if string(clean) == string(v.Bytes()) {
			return v, false
		}
		return reflect.ValueOf(clean).Convert(v.Type()), true
	}
	now = v
	for i := range v.Len() {
		item, other := r.value(v.Index(i))
		if !other {
			continue
		}
		if !changed {
			now, changed = reflect.MakeSlice(v.Type(), v.Len(), v.Len()), true
			reflect.Copy(now, v)
		}
		now.Index(i).Set(item)
	}
	return now, changed
}

func (r *redactor) table(v reflect.Value) (now reflect.Value, changed bool) {
	now = reflect.MakeMapWithSize(v.Type(), v.Len())
	for k, item := range v.Seq2() {
		key, otherKey := r.value(k)
		item, other := r.value(item)
		now.SetMapIndex(key, item)
		changed = changed || otherKey || other
	}
	if !changed {
		return v, false
	}
	return now, true
}

// isExact reports whether the bytes of a field are kept as they are.
func isExact(owner, field string) bool {
	switch owner + "." + field {
	case "SealedBlock.Raw", "SealedBlock.Input", "SealedBlock.Shown", "SealedBlock.Name", "Agent.Tools",
		"Opened.Cwd", "Opened.Dirs", "Config.Root", "Imported.From", "Imported.Root", "Imported.Cwd", "Configured.AddDirs", "ToolFinished.Cwd", "ToolFinished.Output",
		"Task.Cwd", "TaskRequested.Cwd", "State.Cwd", "ApprovalRequested.Cwd", "PermissionGranted.Cwd",
		"Edit.Path", "File.Path", "Compacted.In", "Compacted.Reason", "ModelRequested.Reason", "ModelRequested.Purpose",
		"Config.Mode", "Configured.Mode", "TaskRequested.Restart", "Task.Restart", "TaskRestartSet.Restart",
		"FilesCaptured.Dir", "RestoreStarted.Dir":
		return true
	}
	switch field {
	case "Key":
		return owner != "StateSet"
	case "Act", "ID", "Task", "TaskAct", "Session", "Owner", "Provider", "Model", "APIVersion", "Betas", "BootID",
		"Kill", "Cause", "Media", "Class", "Stop", "Effect", "Source", "Scope", "Signal", "By":
		return true
	}
	return false
}

// isUsed reports whether the words of a field are used as they stand.
func isUsed(owner, field string) bool {
	switch owner + "." + field {
	case "TaskRequested.Command", "TaskRequested.Argv", "TaskRequested.Name", "TaskInput.Text", "Await.Pattern",
		"ApprovalAnswered.Grant", "PermissionGranted.Rule", "PermissionRevoked.Rule",
		"CheckpointRequested.Name", "RestoreRequested.Paths", "Artifact.Name":
		return true
	}
	return false
}

// RedactEnv replaces known values in the values of variables. A variable whose name holds one is left out: the log
// cannot keep it, nor can a later command be given it under another name.
func RedactEnv(delta command.EnvDelta, replace func([]byte) []byte) command.EnvDelta {
	out := maps.Clone(delta)
	for k, v := range delta {
		switch {
		case string(replace([]byte(k))) != k:
			delete(out, k)
		case v != nil:
			clean := string(replace([]byte(*v)))
			out[k] = &clean
		}
	}
	return out
}
