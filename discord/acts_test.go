package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/discord/discordtest"
	"ollimbot/discord/rest"
)

// inDiscord waits until Discord is as expected.
func inDiscord(ok func(p *player, f discordtest.State, arg string) bool) func(*player, string) {
	return func(p *player, arg string) {
		p.until(func(f discordtest.State) bool { return ok(p, f, arg) })
	}
}

// onCard waits until the card is as expected; a dash stands for nothing.
func onCard(ok func(m *discordtest.Message, want string) bool) func(*player, string) {
	return func(p *player, arg string) {
		if arg == "-" {
			arg = ""
		}
		p.becomes(func(m *discordtest.Message) bool { return ok(m, arg) })
	}
}

// byNow fails the story unless the card is as expected by now.
func byNow(ok func(m *discordtest.Message, want string) bool) func(*player, string) {
	return func(p *player, arg string) {
		p.check(ok(p.look(), arg), "%+v", p.look())
	}
}

// counts fails the story unless there are so many by now: N WHAT.
func counts(count func(p *player, what string) (n int)) func(*player, string) {
	return func(p *player, arg string) {
		want, what, _ := strings.Cut(arg, " ")
		n := count(p, what)
		p.check(fmt.Sprint(n) == want, "there are %d", n)
	}
}

func duration(p *player, arg string) time.Duration {
	d, err := time.ParseDuration(arg)
	testkit.Must(p.t, err)
	return d
}

// next is what the stub was asked next.
func (p *player) next() string {
	p.heard++
	return spoken(p.asked(p.heard)[p.heard-1], p.named)
}

// since are the requests since the step "from here".
func (p *player) since(f discordtest.State) discordtest.State {
	f.Requests = f.Requests[p.from:]
	return f
}

// acts are what happens, and what is expected.
var acts = map[string]func(*player, string){
	// The bot's life.
	"begin":     func(p *player, _ string) { p.begin() }, // without waiting for it
	"connected": func(*player, string) {},
	"fails": func(p *player, want string) { // the surface gives up, and nothing can be said
		p.begin()
		p.polls(func() bool { return strings.HasPrefix(p.d.Status().State, "stopped: ") })
		_, err := p.d.Post(p.t.Context(), post.Post{Text: "x"})
		p.check(errors.Is(err, post.ErrNoChannel) && !p.d.Status().OK, "posting into nothing: %v", err)
		p.d.Answer(chat.AnswerOptions{}).End(false, func(ids []post.MessageID) { p.check(ids == nil, "%v", ids) })
		p.d.Small("x", true)
		p.d.Approval(policy.Approval{ID: "1", Until: time.Now().Add(time.Minute)})
		p.d.Farewell(p.t.Context())
		p.fate = want
	},
	"requests": counts(func(p *player, _ string) int { return len(p.s.State().Requests) }),
	"arrives":  func(p *player, _ string) { p.arrives(1) },
	"stop":     func(p *player, _ string) { p.stop() },
	"kill":     func(p *player, _ string) { p.killed() },
	"start":    func(p *player, _ string) { p.again() },
	"restart":  func(p *player, _ string) { p.stop(); p.again() },
	"advance":  func(p *player, d string) { p.s.Advance(duration(p, d)) },

	// What the user does.
	"me": func(p *player, arg string) { p.tells(played(arg)) },
	"several": func(p *player, arg string) { // messages, with their numbers for #
		times, text, _ := strings.Cut(arg, " ")
		for i := range number(times) {
			p.tells(strings.ReplaceAll(text, "#", fmt.Sprint(i)))
		}
	},
	"send": func(p *player, arg string) { // what Discord may send, as JSON
		times, data, repeated := strings.Cut(arg, "× ")
		if !repeated {
			times, data = "1", arg
		}
		var m discordtest.Message
		testkit.Must(p.t, json.Unmarshal([]byte(data), &m.Extra))
		if kind, ok := m.Extra["type"].(float64); ok {
			m.Type = discordgo.MessageType(kind)
			delete(m.Extra, "type")
		}
		for range number(times) {
			p.mine = p.s.User().Send(m).ID
		}
	},
	"forward": func(p *player, text string) { p.s.User().Forward(played(text), 0) },
	"upload": func(p *player, arg string) { // TEXT + NAME TYPE DATA
		parts := strings.Split(arg, " + ")
		var files []discordtest.File
		for _, part := range parts[1:] {
			f := strings.SplitN(part, " ", 3)
			files = append(files, discordtest.File{Name: f[0], Type: f[1], Data: []byte(strings.Replace(f[2], "PNG", string(png), 1))})
		}
		p.mine = p.s.User().Upload(played(parts[0]), files...).ID
	},
	"speak": func(p *player, forwarded string) {
		voice := discordtest.File{Name: "voice-message.ogg", Data: recording(p.t), Seconds: 1}
		if forwarded == "" {
			p.mine = p.s.User().Speak(voice.Data, voice.Seconds).ID
		} else {
			p.s.User().Forward("", discordgo.MessageFlagsIsVoiceMessage, voice)
		}
	},
	"begun":       func(p *player, _ string) { <-p.begun }, // a slow transcription
	"transcribes": func(p *player, text string) { p.words <- text },
	"edit": func(p *player, arg string) {
		name, text, _ := strings.Cut(arg, " ")
		p.s.User().Edit(p.names[name].mine, text)
	},
	"delete": func(p *player, name string) { p.s.User().Delete(p.names[name].mine) },
	"reply":  func(p *player, text string) { p.mine = p.s.User().Reply(p.card, text).ID },
	"react":  func(p *player, emoji string) { p.s.User().React(p.card, emoji) },
	"/": func(p *player, arg string) {
		name, given, _ := strings.Cut(arg, " ")
		var list []discordtest.Option
		for _, o := range pairs(given) {
			list = append(list, discordtest.Option{Name: o[0], Value: o[1]})
		}
		p.window = p.s.User().Slash(name, list...)
	},
	"press":  func(p *player, label string) { p.window = p.s.User().Click(p.card, button(p.look(), label)) },
	"choose": func(p *player, value string) { p.s.User().Choose(p.card, menu(p.look(), value), value) },
	"forge": func(p *player, label string) { // a button that may be there no longer
		p.window = p.s.User().Forge(p.card, cmp.Or(p.seen[p.card+label], label))
	},
	"rechoose": func(p *player, value string) { p.s.User().ForgeChoice(p.card, menu(p.look(), value), value) },
	"task":     func(p *player, id string) { p.s.User().Menu(command.AddToMyTasks, id) },
	"about":    func(p *player, id string) { p.window = p.s.User().Menu(command.RemindAboutThis, id) },
	"submit": func(p *player, arg string) {
		var list []discordtest.Field
		for _, f := range pairs(arg) {
			list = append(list, discordtest.Field{Name: f[0], Value: f[1]})
		}
		p.s.User().Submit(p.window.ID, list...)
	},
	"types": func(p *player, arg string) { // COMMAND OPTION TEXT: what is suggested
		what, want, _ := strings.Cut(arg, ": ")
		f := strings.SplitN(what, " ", 3)
		i := p.s.User().Type(f[0], f[1], f[2])
		got := strings.Join(find(p.until(func(f discordtest.State) bool { return find(f, i.ID).Choices != nil }), i.ID).Choices, ", ")
		begin, open := strings.CutSuffix(want, "…")
		p.check(got == want || open && strings.HasPrefix(got, begin), "suggested are %s", got)
	},

	// What others do.
	"stranger": func(p *player, arg string) {
		who := p.s.Stranger()
		if emoji, ok := strings.CutPrefix(arg, "reacts "); ok {
			who.React(cmp.Or(p.card, p.mine), emoji)
		} else if label, ok := strings.CutPrefix(arg, "forges "); ok {
			who.Forge(p.card, p.seen[p.card+label])
		} else if line, ok := strings.CutPrefix(arg, "/"); ok {
			p.window = who.Slash(line)
		} else {
			p.names["theirs"] = place{mine: who.Say(arg).ID}
		}
	},
	"other": func(p *player, emoji string) {
		p.s.OtherBot().Say(emoji)
		p.s.OtherBot().React(cmp.Or(p.card, p.mine), emoji)
	},
	"server": func(p *player, text string) { // the user, there
		if line, ok := strings.CutPrefix(text, "/"); ok {
			p.s.User().In("77").Slash(line)
		} else {
			p.s.User().In("77").Say(text)
		}
	},
	"dispatch": func(p *player, arg string) {
		kind, data, _ := strings.Cut(arg, " ")
		p.s.Dispatch(kind, json.RawMessage(data))
	},
	"again": func(p *player, kind string) { p.s.Again(kind) }, // Discord repeats an event
	"forget": func(p *player, what string) {
		switch what {
		case "sessions":
			n := len(p.s.State().Identifies)
			p.s.EndSessions()
			p.s.DropSocket()
			p.arrives(n + 1)
		case "received": // the bot does not know what it has received
			p.ears.heard = ""
		case "commands": // another program with the token registers none
			c := rest.New(rest.Options{Token: secret, Base: p.s.URL() + "/api/v10"})
			testkit.Must(p.t, c.PutCommands(p.t.Context(), p.s.Bot().ID, nil))
		}
	},
	"thaw": func(p *player, key string) { p.s.Release(key) },

	// Where the user looks.
	"name": func(p *player, name string) { p.names[name] = p.place },
	"see":  func(p *player, name string) { p.place = p.names[name] },

	// What the bot writes. That of "bot", "replies" and "quotes" is the card from then on.
	"bot": func(p *player, text string) { p.shows(p.says(text)) },
	"and": func(p *player, text string) { p.says(text) },
	"replies": inDiscord(func(p *player, f discordtest.State, text string) bool { // to the last interaction
		return p.shows(first(f.Messages, func(m *discordtest.Message) bool {
			return m.Interaction == p.window.ID && !m.Loading() && strings.Contains(textOf(m), text)
		}))
	}),
	"quotes": func(p *player, text string) { // in a reply to the user's message
		p.until(func(f discordtest.State) bool {
			return p.shows(first(f.Sent(p.s.Bot()), func(m *discordtest.Message) bool { return m.ReplyTo == p.mine }))
		})
		m := p.look()
		p.check(strings.Contains(m.Content, text) && !m.Pinged && !m.Rang(), "%+v", m)
	},
	"is":   onCard(func(m *discordtest.Message, text string) bool { return m.Content == text }),
	"has":  onCard(func(m *discordtest.Message, text string) bool { return strings.Contains(textOf(m), text) }),
	"ends": onCard(func(m *discordtest.Message, text string) bool { return strings.HasSuffix(textOf(m), text) }),
	"titled": onCard(func(m *discordtest.Message, title string) bool {
		return len(m.Embeds) > 0 && m.Embeds[0].Title == title
	}),
	"buttons":   onCard(func(m *discordtest.Message, list string) bool { return labels(m) == list }),
	"offers":    onCard(func(m *discordtest.Message, label string) bool { return button(m, label) != "" }),
	"reactions": onCard(func(m *discordtest.Message, want string) bool { return m.Marks() == want }),
	"deleted":   onCard(func(m *discordtest.Message, _ string) bool { return !m.Deleted.IsZero() }),
	"menu": onCard(func(m *discordtest.Message, want string) bool {
		var list []string
		for _, o := range m.Menus[0].Options {
			list = append(list, strings.TrimSpace(o.Label+" "+o.Description))
		}
		return strings.Contains(strings.Join(list, ", "), want)
	}),
	"lacks":   byNow(func(m *discordtest.Message, text string) bool { return !strings.Contains(textOf(m), text) }),
	"private": byNow(func(m *discordtest.Message, _ string) bool { return m.Ephemeral() }),
	"public":  byNow(func(m *discordtest.Message, _ string) bool { return !m.Ephemeral() && m.Interaction == "" }),
	"rings":   byNow(func(m *discordtest.Message, not string) bool { return m.Rang() == (not == "") }),
	"bare":    byNow(func(m *discordtest.Message, _ string) bool { return len(m.Attachments) == 0 }),
	"short": byNow(func(m *discordtest.Message, lines string) bool {
		return len(m.Content) <= 2000 && (lines == "" || strings.Count(m.Content, "\n") <= number(lines))
	}),
	"picture": onCard(func(m *discordtest.Message, want string) bool { // NAME: description
		return len(m.Attachments) == 1 && m.Attachments[0].Name+": "+m.Attachments[0].Alt == want && string(m.Attachments[0].Data) == string(png)
	}),
	"attached": onCard(func(m *discordtest.Message, arg string) bool { // a file that has N TEXT
		times, text, _ := strings.Cut(arg, " ")
		return len(m.Attachments) == 1 && strings.Count(string(m.Attachments[0].Data), text) == number(times)
	}),
	"renews": func(p *player, label string) { // the button, on another state of things
		p.becomes(func(m *discordtest.Message) bool { id := button(m, label); return id != "" && id != p.seen[m.ID+label] })
	},
	"opens": func(p *player, arg string) { // the last interaction a window TITLE: with field=value
		title, fields, _ := strings.Cut(arg, ": ")
		w, got := p.opened(), map[string]string{}
		for _, r := range w.Rows {
			got[r.Fields[0].CustomID] = r.Fields[0].Value
		}
		for _, want := range pairs(fields) {
			value, there := got[want[0]]
			p.check(there && value == want[1], "%s is %q", want[0], value)
		}
		p.check(w.Title == title, "its title is %s", w.Title)
	},
	"answered": inDiscord(func(p *player, f discordtest.State, want string) bool { // the last interaction: CALLBACK FOLLOW-UPS
		i := find(f, p.window.ID)
		return fmt.Sprint(int(i.Callback), i.Followups) == want
	}),
	"commands": inDiscord(func(_ *player, f discordtest.State, puts string) bool { // registered so often, and all there
		return len(f.Commands) == len(command.List(command.InDiscord|command.InMessage)) && fmt.Sprint(f.CommandPuts) == puts
	}),
	"marks": inDiscord(func(p *player, f discordtest.State, want string) bool { // on the user's message
		return f.Message(p.mine).Marks() == strings.Trim(want, "-")
	}),
	"twice": inDiscord(func(p *player, f discordtest.State, text string) bool { // or more often, in as many messages
		return len(slices.DeleteFunc(f.Sent(p.s.Bot()), func(m *discordtest.Message) bool { return !strings.Contains(textOf(m), text) })) >= 2
	}),
	"exactly": inDiscord(func(p *player, f discordtest.State, text string) bool { // one of its messages
		return slices.ContainsFunc(f.Sent(p.s.Bot()), func(m *discordtest.Message) bool { return m.Content == text })
	}),
	"shows": inDiscord(func(_ *player, f discordtest.State, text string) bool { // below its name, among others
		all := strings.Join(f.Presences, "")
		for _, i := range f.Identifies { // the first one is part of it
			all += string(i.Presence)
		}
		return strings.Contains(all, text)
	}),
	"said": counts(func(p *player, text string) (n int) {
		for _, m := range p.s.State().Sent(p.s.Bot()) {
			n += strings.Count(textOf(m), text)
		}
		return n
	}),
	"below": func(p *player, arg string) { // LOWER: UPPER
		lower, upper, _ := strings.Cut(arg, ": ")
		var all string
		for _, m := range p.s.State().Sent(p.s.Bot()) {
			all += m.Content
		}
		p.check(strings.Index(all, upper) < strings.Index(all, lower), "it is above:\n%s", all)
	},
	"from": func(p *player, _ string) { // here
		state := p.s.State()
		p.from, p.written = len(state.Requests), len(state.Messages)
	},
	"only": func(p *player, arg string) { // the bot has written since then: texts
		for _, m := range p.s.State().Messages[p.written:] {
			known := slices.ContainsFunc(strings.Split(arg, " | "), func(text string) bool { return strings.Contains(textOf(m), text) })
			p.check(known || m.Author.ID != p.s.Bot().ID, "it also said %q", textOf(m))
		}
	},
	"count": inDiscord(func(p *player, s discordtest.State, arg string) bool { // METHOD PATH N since then
		f := strings.Fields(arg)
		return fmt.Sprint(p.since(s).Count(f[0], f[1])) == f[2]
	}),
	"reacted": func(p *player, most string) { // at most so often, since then
		const at = "/channels/*/messages/*/reactions"
		n := p.since(p.s.State()).Count("PUT", at) + p.since(p.s.State()).Count("DELETE", at)
		p.check(n <= number(most), "%d times", n)
	},
	"rang": func(p *player, arg string) { // N PATTERN of all messages that did
		got, want := map[string]int{}, strings.Split(arg, " | ")
		for _, m := range p.s.State().Rang(p.s.Bot()) {
			about := textOf(m)
			for _, w := range want {
				if _, pattern, _ := strings.Cut(w, " "); regexp.MustCompile(pattern).MatchString(textOf(m)) {
					about = pattern
				}
			}
			got[about]++
		}
		var list []string
		for about, n := range got {
			list = append(list, fmt.Sprint(n, " ", about))
		}
		slices.Sort(want)
		slices.Sort(list)
		p.check(slices.Equal(list, want), "it rang for %q", list)
	},
	"begins": func(p *player, text string) { // all that rings, with these words
		for _, r := range p.s.State().Requests {
			silent := strings.Contains(string(r.Body), `"flags":4096`)
			p.check(r.Method != http.MethodPost || !strings.HasSuffix(r.Path, "/messages") || silent || strings.Contains(string(r.Body), text), "it rang with %s", r.Body)
		}
	},
	"typing": func(p *player, _ string) {
		p.check(p.since(p.s.State()).Count("POST", "/channels/*/typing") > 0, "it did not type")
	},

	// The stub, and the surface around it.
	"hears": func(p *player, want string) {
		got := p.next()
		p.check(got == want || got == want+" …", "it heard %q", got)
	},
	"alone":   func(p *player, want string) { got := p.next(); p.check(got == want, "it heard %q", got) }, // no other message follows at once
	"release": func(p *player, _ string) { close(p.held) },
	"world": func(p *player, what string) { // as the stub has it
		p.ears.mu.Lock()
		defer p.ears.mu.Unlock()
		switch b := &p.ears.shown; what {
		case "busy":
			b.Busy = true
		case "muted":
			b.Budget.Quiet = time.Date(2026, 3, 1, 7, 30, 0, 0, time.UTC)
		case "budget":
			b.Config.DiscordBudget, b.Budget.State = true, budget.State{Capacity: 5, Available: 3.4}
		}
	},
	"writes": func(p *player, text string) { // an answer, bit by bit
		if p.answer == nil {
			p.answer = p.d.Answer(chat.AnswerOptions{})
		}
		p.answer.Append(text)
	},
	"ended": func(p *player, _ string) {
		over := make(chan struct{})
		p.answer.End(false, func([]post.MessageID) { close(over) })
		<-over
	},
	"post": func(p *player, arg string) { // NONCE TEXT => why not
		arg, want, fails := strings.Cut(arg, " => ")
		nonce, text, _ := strings.Cut(arg, " ")
		ctx, cancel := context.WithTimeout(p.t.Context(), map[bool]time.Duration{true: 300 * time.Millisecond, false: 2 * time.Minute}[want == "unknown"])
		defer cancel()
		id, err := p.d.Post(ctx, post.Post{Nonce: nonce, Text: text, Context: "bg"})
		p.check(fails == (err != nil) && errors.Is(err, post.ErrUnknown) == (want == "unknown") && errors.Is(err, rest.ErrCannotDM) == (want == "shut out"), "%v", err)
		p.posted, p.card = append(p.posted, id), string(id)
	},
	"once": func(p *player, _ string) { p.check(len(slices.Compact(p.posted)) == 1, "posted are %v", p.posted) }, // all posts are one message
	"rewrite": func(p *player, text string) {
		testkit.Must(p.t, p.d.Edit(p.t.Context(), p.posted[0], post.Post{Text: text}))
	},
	"withdraw": func(p *player, _ string) { testkit.Must(p.t, p.d.Delete(p.t.Context(), p.posted[0])) },
	"status": func(p *player, arg string) { // ok or not, and how it begins
		word, begin, _ := strings.Cut(arg, " ")
		p.polls(func() bool {
			now := p.d.Status()
			return now.OK == (word == "ok") && strings.HasPrefix(now.State, begin) && now.Name == "Discord"
		})
	},
	"outside": func(p *player, want string) { // of the bot, what is known of a user who cannot be reached
		got := ShutOut(p.dir)
		p.check(strings.Contains(got, want) || want == "-" && got == "", "%q", got)
	},
	"warned": func(p *player, _ string) { p.polls(func() bool { return p.d.status.standing().Lead == textRival }) }, // of a rival
	"log":    func(p *player, text string) { p.polls(func() bool { return p.logged(text) > 0 }) },
	"logs":   counts(func(p *player, text string) int { return p.logged(text) }),

	// The bot.
	"do":      func(p *player, line string) { p.do(command.Slash{Line: line}) },
	"typed":   func(p *player, text string) { p.do(command.Say{Text: played(text)}) }, // in the dashboard
	"restore": func(p *player, _ string) { p.do(command.RestoreBudget{Capacity: 20, RefillMinutes: 90, Available: 20}) },
	"decide": func(p *player, what string) { // in the dashboard
		a := p.await(func(s core.Snapshot) bool { return len(s.Approvals) == 1 }).Approvals[0]
		p.do(command.Answer{ID: a.ID, Verdict: map[string]policy.Verdict{"allow": policy.Allow, "deny": policy.Deny}[what]})
	},
	"allow": func(p *player, _ string) { // in the dashboard, the file that waits
		one := waitsNow(p.bot.Snapshot())
		p.do(command.AllowTask{ID: one.ID, Version: cmp.Or(one.Proposed.Version, one.Version)})
	},
	"capacity": func(p *player, arg string) { n := number(arg); p.do(command.SetBudget{Capacity: &n}) },
	"now":      func(p *player, arg string) { p.await(func(s core.Snapshot) bool { return p.lacks(s, arg) == "" }) }, // facts, as "busy=false | tokens=4"
	"still": func(p *player, arg string) { // facts, without waiting
		why := p.lacks(p.bot.Snapshot(), arg)
		p.check(why == "", "%s", why)
	},
	"code": func(p *player, want string) { got := <-p.engine.(loggedOut).code; p.check(got == want, "%s", got) }, // of a login
	"fires": func(p *player, id string) { // starts a task; its run before may still be ending
		p.polls(func() bool { _, err := p.bot.Do(p.t.Context(), command.FireNow{ID: id}); return err == nil })
	},
	"edits": func(p *player, body string) { // the agent edits the routine
		input, err := json.Marshal(map[string]string{"file_path": tidyFile, "content": tidy(body)})
		testkit.Must(p.t, err)
		p.s.User().Say(play("ask Write "+string(input), "say Written."))
	},
	"chat": func(p *player, arg string) { // has an entry of ROLE with TEXT
		role, text, _ := strings.Cut(arg, " ")
		p.await(func(s core.Snapshot) bool {
			return slices.ContainsFunc(s.Chat, func(e transcript.Entry) bool {
				return string(e.Role) == role && strings.Contains(string(e.Label)+e.Where+e.Text, text)
			})
		})
	},
	"chats": func(p *player, last string) { // the user's last messages are one after another in the chat
		var got []string
		for _, e := range p.bot.Snapshot().Chat {
			if e.Role == "you" {
				got = append(got, e.Text)
			}
		}
		n := number(last)
		p.check(len(got) >= n && slices.Equal(got[len(got)-n:], p.texts[len(p.texts)-n:]), "%q", got)
	},
	"dashboard": func(p *player, text string) { // has no buttons on the card with these words
		for _, e := range p.bot.Snapshot().Chat {
			p.check(e.Embed == nil || !strings.Contains(e.Embed.Description, text) || len(e.Embed.Buttons) == 0, "%+v", e.Embed)
		}
	},

	// The disk.
	"holds": func(p *player, arg string) { // PATH TEXT
		path, text, _ := strings.Cut(arg, " ")
		p.polls(func() bool { data, _ := p.dir.Read(path); return strings.Contains(string(data), text) })
	},
	"files": counts(func(p *player, pattern string) int {
		list, err := filepath.Glob(p.dir.Path(pattern))
		testkit.Must(p.t, err)
		return len(list)
	}),
	"made": func(p *player, arg string) { // WORD N TEXT: reminders with that word in their name
		f := strings.SplitN(arg+" ", " ", 3)
		var all string
		p.polls(func() bool {
			n := 0
			all = ""
			for _, r := range p.bot.Index().Set().RemindersByTime() {
				if strings.Contains(r.Path, f[0]) {
					n, all = n+1, all+storetest.Text(p.t, p.dir, r.Path)
				}
			}
			return fmt.Sprint(n) == f[1]
		})
		text := strings.TrimSpace(f[2])
		p.check(text == "" || strings.Count(all, text) == number(f[1]), "they are %q", all)
	},
	"remembers": func(p *player, _ string) { // nothing of cards that were answered
		var left file
		_, err := p.dir.PeekJSON(stateFile, &left)
		p.check(err == nil && len(left.Asked)+len(left.Fleeting) == 0, "%+v, %v", left, err)
	},
}

// lacks says which of the facts, as "busy=false | tokens=4", are not as the bot has them.
func (p *player) lacks(s core.Snapshot, facts string) (why string) {
	ended, last := 0, ""
	for _, f := range s.Forks {
		if !f.Live() {
			ended++
		}
	}
	if n := len(s.Chat); n > 0 {
		last = string(s.Chat[n-1].Role)
	}
	r := p.bot.Runtime()
	quiet, err := config.ShowOne(r, "quiet_hours")
	testkit.Must(p.t, err)
	have := map[string]any{
		"busy": s.Busy, "approvals": len(s.Approvals), "fork": s.Fork != nil, "resumed": s.Fork != nil && s.Fork.Resumed, "ended": ended,
		"reminders": s.Reminders, "updates": len(s.Updates), "capacity": s.Budget.State.Capacity, "refill": s.Budget.State.RefillRateMinutes,
		"tokens": s.Budget.State.Whole(), "free": s.Budget.Beside.Quiet, "muted": !s.Budget.Muted.IsZero(), "capped": s.Money.Today.Capped(),
		"quiet": quiet.Text, "last": last, "cap": r.DailyCap, "line": r.StatusLine, "waits": waitsNow(s) != nil, "ok": s.Surface.OK,
		"surface": strings.Fields(s.Surface.State + " -")[0],
	}
	for _, want := range pairs(facts) {
		if got := fmt.Sprint(have[want[0]]); got != want[1] {
			why += want[0] + " is " + got + " "
		}
	}
	return why
}
