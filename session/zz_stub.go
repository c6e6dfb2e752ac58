package session

type State struct{ ReadOnly string }

func (k Kind) body() Body { return nil }
