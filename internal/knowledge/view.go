package knowledge

import (
	"fmt"
	"strings"
)

const (
	maxLines     = 999_999
	maxView      = 100_000 // bytes that one view shows
	snippetLines = 4       // around an edit
)

// view shows a file, or what is in a directory. It takes no lock: each file is whole at any time.
func (m *Memory) view(c Command) (string, error) {
	s, name, err := m.place(c.Path)
	if err != nil {
		return "", err
	}
	f, err := s.look()
	if err != nil {
		return "", err
	}
	defer f.close()
	if name == "" {
		return m.directory(s, "", c.Path)
	}
	b, err := f.read(name)
	if b == nil {
		if text, dirErr := m.directory(s, name, c.Path); dirErr == nil {
			return text, nil
		}
		if err == nil {
			err = refuse("The path %s does not exist. Please provide a valid path.", c.Path)
		}
		return "", err
	}
	return viewFile(c, string(b))
}

func viewFile(c Command, text string) (string, error) {
	all := lines(text)
	if len(all) > maxLines {
		return "", refuse("File %s exceeds maximum line limit of 999,999 lines.", c.Path)
	}
	from, to := c.From, c.To
	n := int64(len(all))
	if from == 0 && to == 0 {
		from, to = 1, n
	}
	if to == -1 {
		to = n
	}
	if n == 0 && from == 1 {
		to = 0
	} else if from < 1 || from > n || to < from {
		return "", refuse("Error: Invalid `view_range` parameter: [%d, %d]. It should be within the lines of the file: [1, %d]", c.From, c.To, n)
	}
	return fmt.Sprintf("Here's the content of %s with line numbers:\n%s", c.Path, numbered(all, int(from), int(min(to, n)))), nil
}

// numbered shows lines from first to last, from 1, each with its number. What is over the bound is said, not only cut.
func numbered(all []string, first, last int) string {
	var b strings.Builder
	for i := first; i <= last; i++ {
		if b.Len()+len(all[i-1]) > maxView && i > first {
			fmt.Fprintf(&b, "[Lines %d to %d are not shown: view them with view_range.]", i, last)
			return b.String()
		}
		fmt.Fprintf(&b, "%6d\t%s\n", i, all[i-1])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// snippet shows what an edit made of lines first to last, from 0, with some around.
func snippet(text string, first, last int) string {
	all := lines(text)
	return numbered(all, max(1, first+1-snippetLines), min(len(all), last+1+snippetLines))
}

// directory lists what lies in a directory, two levels deep; one without files is not there, but for the memories
// themselves.
func (m *Memory) directory(s *Scope, dir, path string) (string, error) {
	list, err := s.everything()
	if err != nil {
		return "", err
	}
	if s == m.Project && dir == "" {
		user, err := m.User.everything()
		if err != nil {
			return "", err
		}
		list = append(list, Kept{Name: userDir + "/"})
		for _, k := range user {
			list = append(list, Kept{Name: userDir + "/" + k.Name, Size: k.Size})
		}
	}
	path = strings.TrimSuffix(path, "/")
	sizes, order := map[string]int64{path: 0}, []string{path}
	found := dir == ""
	for _, k := range list {
		rest, ok := k.Name, true
		if dir != "" {
			rest, ok = strings.CutPrefix(k.Name, dir+"/")
		}
		if !ok {
			continue
		}
		found = true
		sizes[path] += k.Size
		at := path
		for level, name := range strings.Split(strings.TrimSuffix(rest, "/"), "/") {
			if level == 2 {
				break
			}
			at += "/" + name
			if _, ok := sizes[at]; !ok {
				order = append(order, at)
			}
			sizes[at] += k.Size
		}
	}
	if !found {
		return "", refuse("The path %s does not exist. Please provide a valid path.", path)
	}
	out := "Here're the files and directories up to 2 levels deep in " + path + ", excluding hidden items and node_modules:"
	for _, at := range order {
		out += "\n" + size(sizes[at]) + "\t" + at
	}
	return out, nil
}

// everything is the index and the files of details.
func (s *Scope) everything() ([]Kept, error) {
	f, err := s.look()
	if err != nil {
		return nil, err
	}
	defer f.close()
	list, err := f.list()
	if err != nil {
		return nil, err
	}
	if b, err := f.read(indexName); err == nil && b != nil {
		list = append([]Kept{{Name: indexName, Size: int64(len(b))}}, list...)
	}
	return list, nil
}

// size is a number of bytes as people read it.
func size(n int64) string {
	switch {
	case n < 1024:
		return fmt.Sprint(n)
	case n < 1<<20:
		return fmt.Sprintf("%.1fK", float64(n)/1024)
	}
	return fmt.Sprintf("%.1fM", float64(n)/(1<<20))
}
