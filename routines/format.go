package routines

import "ollimbot/core/store"

// FormatRoutine writes a routine as its file: keys in the order of the original,
// those left out that have their default.
func FormatRoutine(r Routine) []byte {
	out := []store.Out{{Key: "id", Value: r.ID}, {Key: "cron", Value: r.Cron}}
	if r.Background {
		out = append(out, store.Out{Key: "background", Value: true})
	}
	out = appendCommon(out, r.Task)
	if r.RunMissed {
		out = append(out, store.Out{Key: "missed", Value: "run"})
	}
	return store.FormatFrontMatter(out, r.Body)
}

// FormatReminder writes a reminder as its file. background is always written:
// the original program has another default than ours.
func FormatReminder(r Reminder) []byte {
	out := []store.Out{
		{Key: "id", Value: r.ID},
		{Key: "run-at", Value: r.RunAt.Format(runAtLayout)},
		{Key: "background", Value: r.Background},
	}
	if r.ChainDepth != 0 {
		out = append(out, store.Out{Key: "chain-depth", Value: r.ChainDepth})
	}
	if r.MaxChain != 0 {
		out = append(out, store.Out{Key: "max-chain", Value: r.MaxChain})
	}
	out = appendText(out, "chain-parent", r.ChainParent)
	return store.FormatFrontMatter(appendCommon(out, r.Task), r.Body)
}

// appendCommon adds what both kinds share, from model on.
func appendCommon(out []store.Out, t Task) []store.Out {
	out = appendText(out, "model", t.Model)
	if !t.Thinking {
		out = append(out, store.Out{Key: "thinking", Value: false})
	}
	if t.Isolated {
		out = append(out, store.Out{Key: "isolated", Value: true})
	}
	out = appendText(out, "description", t.Description)
	if t.Mode != OnPing {
		out = appendText(out, "update-main-session", string(t.Mode))
	}
	if !t.AllowPing {
		out = append(out, store.Out{Key: "allow-ping", Value: false})
	}
	out = appendList(out, "allowed-tools", t.Allowed)
	out = appendList(out, "disallowed-tools", t.Disallowed)
	out = appendList(out, "skills", t.Skills)
	out = appendText(out, "subagent", t.Subagent)
	if t.TrustInput {
		out = append(out, store.Out{Key: "trust-input", Value: true})
	}
	return out
}

func appendText(out []store.Out, key, text string) []store.Out {
	if text == "" {
		return out
	}
	return append(out, store.Out{Key: key, Value: text})
}

// appendList leaves out what is absent; an empty list says something: no tools.
func appendList(out []store.Out, key string, items []string) []store.Out {
	if items == nil {
		return out
	}
	return append(out, store.Out{Key: key, Value: items})
}
