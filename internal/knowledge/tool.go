package knowledge

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Command is one call of the memory tool. What a command does not use stays empty.
type Command struct {
	Name             string // view, create, str_replace, insert, delete, rename
	Path             string
	From, To         int64 // view_range; 0, 0: all; To -1: to the end
	FileText         string
	OldStr, NewStr   string
	InsertLine       int64
	InsertText       string
	OldPath, NewPath string
	Agreed           bool // a person agreed to what [Memory.Shrinks] says of it
}

// Do runs a command and gives the words for the model; ok is false for what was refused or is not there. An error is one
// of the machine. A command with by.Key that was made before is not made again: its words come again. What by.Source says
// that a tool or another place wrote is not made: it is put into the [Inbox], for a person to accept.
func (m *Memory) Do(ctx context.Context, c Command, by By) (text string, ok bool, err error) {
	switch {
	case c.proposes(by):
		text, err = m.propose(ctx, c, by)
	default:
		text, err = m.do(ctx, c, by)
	}
	var no *Refusal
	switch {
	case errors.As(err, &no):
		return no.Text, false, nil
	case errors.Is(err, ErrChanged):
		return "Error: it changed meanwhile, and stays as it is now. View it again.", false, nil
	case errors.Is(err, ErrLink):
		return "Error: what lies there is a link, or no file of this memory.", false, nil
	case err != nil:
		return "", false, err
	}
	return text, true, nil
}

func (m *Memory) do(ctx context.Context, c Command, by By) (text string, err error) {
	switch c.Name {
	case "view":
		text, err = m.view(c)
	case "create":
		text, err = m.create(ctx, c, by)
	case "str_replace":
		text, err = m.replace(ctx, c, by)
	case "insert":
		text, err = m.insert(ctx, c, by)
	case "delete":
		text, err = m.remove(ctx, c, by)
	case "rename":
		text, err = m.rename(ctx, c, by)
	default:
		err = refuse("Error: unknown command %q: use view, create, str_replace, insert, delete or rename", clip(c.Name))
	}
	return text, err
}

// place reads a path; missing words what is wrong with it.
func (m *Memory) place(path string) (*Scope, string, error) {
	s, name, err := m.locate(path)
	if err != nil {
		return nil, "", refuse("Error: %q is no path of the memory: %v", clip(path), err)
	}
	return s, name, nil
}

// file is place for a command on one file.
func (m *Memory) file(path string) (*Scope, string, error) {
	s, name, err := m.place(path)
	if err == nil && name == "" {
		err = refuse("Error: %s is a directory", clip(path))
	}
	return s, name, err
}

func gone(path string) error { return refuse("Error: The path %s does not exist", path) }

func goneHint(path string) error {
	return refuse("Error: The path %s does not exist. Please provide a valid path.", path)
}

// edit changes one file that is there, and gives the words of result for what it became.
func (m *Memory) edit(ctx context.Context, c Command, by By, missing func(string) error, to func(string) (after, result string, err error)) (string, error) {
	s, name, err := m.file(c.Path)
	if err != nil {
		return "", err
	}
	done, err := s.change(ctx, by, func(d *draft) (string, string, error) {
		before, err := d.get(name)
		if err != nil {
			return "", "", err
		}
		if before == nil {
			return "", "", missing(c.Path)
		}
		after, result, err := to(string(before))
		if err == nil && !c.Agreed {
			err = guardShrink(c.Path, before, []byte(after))
		}
		d.set(name, []byte(after))
		return c.Name + " " + s.shown(name), result, err
	})
	if err != nil {
		return "", err
	}
	return done.Result, nil
}

func (m *Memory) create(ctx context.Context, c Command, by By) (string, error) {
	s, name, err := m.file(c.Path)
	if err != nil {
		return "", err
	}
	done, err := s.change(ctx, by, func(d *draft) (string, string, error) {
		before, err := d.get(name)
		switch {
		case err != nil:
			return "", "", err
		case before != nil:
			return "", "", refuse("Error: File %s already exists", c.Path)
		}
		if below, err := d.below(name); err != nil || len(below) > 0 {
			return "", "", errors.Join(err, refuse("Error: File %s already exists", c.Path))
		}
		d.set(name, []byte(c.FileText))
		return "create " + s.shown(name), "File created successfully at: " + c.Path, nil
	})
	if err != nil {
		return "", err
	}
	return done.Result, nil
}

// below are the files of a directory.
func (d *draft) below(dir string) (out []Kept, err error) {
	list, err := d.list()
	for _, k := range list {
		if strings.HasPrefix(k.Name, dir+"/") {
			out = append(out, k)
		}
	}
	return out, err
}

func (m *Memory) replace(ctx context.Context, c Command, by By) (string, error) {
	return m.edit(ctx, c, by, goneHint, c.replaced)
}

// replaced is a text with the command's replacement, and the words about it.
func (c Command) replaced(text string) (after, result string, err error) {
	if c.OldStr == "" {
		return "", "", refuse("No replacement was performed: old_str is empty.")
	}
	at := strings.Index(text, c.OldStr)
	if at < 0 {
		return "", "", refuse("No replacement was performed, old_str `%s` did not appear verbatim in %s.", c.OldStr, c.Path)
	}
	if more := occurrences(text, c.OldStr); len(more) > 1 {
		return "", "", refuse("No replacement was performed. Multiple occurrences of old_str `%s` in lines: %s. Please ensure it is unique",
			c.OldStr, strings.Join(more, ", "))
	}
	after = text[:at] + c.NewStr + text[at+len(c.OldStr):]
	first := strings.Count(text[:at], "\n")
	return after, "The memory file has been edited.\n" + snippet(after, first, first+strings.Count(c.NewStr, "\n")), nil
}

// Shrinks says in words that a command would drop most of a file, for a person to agree to; empty: it would not, or cannot
// be carried out.
func (m *Memory) Shrinks(c Command) string {
	if c.Name != "str_replace" {
		return ""
	}
	s, name, err := m.file(c.Path)
	if err != nil {
		return ""
	}
	f, err := s.look()
	if err != nil {
		return ""
	}
	defer f.close()
	d, err := f.draft()
	if err != nil {
		return ""
	}
	before, err := d.get(name)
	if err != nil || before == nil {
		return ""
	}
	after, _, err := c.replaced(string(before))
	if err != nil {
		return ""
	}
	if lost, of := shrinkage(before, []byte(after)); lost > 0 {
		return fmt.Sprintf("it would drop %d of the %d lines of %s", lost, of, c.Path)
	}
	return ""
}

// maxOccurrences bounds the lines that a refusal names.
const maxOccurrences = 20

// occurrences are the lines in which a text is found, overlapping ones too.
func occurrences(text, part string) (out []string) {
	for from := 0; len(out) < maxOccurrences; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			break
		}
		out = append(out, fmt.Sprint(1+strings.Count(text[:from+i], "\n")))
		from += i + 1
	}
	return out
}

func (m *Memory) insert(ctx context.Context, c Command, by By) (string, error) {
	return m.edit(ctx, c, by, gone, func(text string) (string, string, error) {
		all := lines(text)
		if c.InsertLine < 0 || c.InsertLine > int64(len(all)) {
			return "", "", refuse("Error: Invalid `insert_line` parameter: %d. It should be within the range of lines of the file: [0, %d]",
				c.InsertLine, len(all))
		}
		out := append(append(append([]string{}, all[:c.InsertLine]...), strings.TrimSuffix(c.InsertText, "\n")), all[c.InsertLine:]...)
		return strings.Join(out, "\n") + "\n", fmt.Sprintf("The file %s has been edited.", c.Path), nil
	})
}
