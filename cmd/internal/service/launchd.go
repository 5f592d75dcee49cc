package service

import (
	"context"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// agent is the launchd agent: label, words of the command line, PATH, file for
// what the runtime says when the program breaks. It is started again when it fails; 63
// is the file mode mask 0077.
const agent = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
%s	</array>
	<key>EnvironmentVariables</key>
	<dict>
		<key>PATH</key>
		<string>%s</string>
	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>10</integer>
	<key>ExitTimeOut</key>
	<integer>15</integer>
	<key>Umask</key>
	<integer>63</integer>
	<key>StandardErrorPath</key>
	<string>%s</string>
</dict>
</plist>
`

// launchd is the agent of the directory.
func (s *Service) launchd() manager {
	label := "local." + s.called()
	path := filepath.Join(s.o.Home, "Library", "LaunchAgents", label+".plist")
	domain := "gui/" + strconv.Itoa(s.o.UID)
	var line strings.Builder
	for _, word := range s.line() {
		fmt.Fprintf(&line, "\t\t<string>%s</string>\n", quoteXML(word))
	}
	errors := filepath.Join(s.o.Dir, "state", "service.log")
	leave := command{words: []string{"launchctl", "bootout", domain + "/" + label}, mayFail: true} // it may not be loaded
	return manager{
		name: label, kind: "a launchd agent", path: path,
		text:  fmt.Sprintf(agent, quoteXML(label), line.String(), quoteXML(s.programs()), quoteXML(errors)),
		mark:  func(sum string) string { return "<!-- written by `ollim-bot service install`, sum=" + sum + " -->" },
		begin: []command{leave, run("launchctl", "bootstrap", domain, path)},
		end:   []command{leave},
		state: func(ctx context.Context) State { return s.agentState(ctx, domain+"/"+label) },
		logs:  func(n int, follow bool) []string { return tailOf(n, follow, s.spoken(errors)...) },
		stays: func() string { return textAgent },
	}
}

// spoken are the files that say something.
func (s *Service) spoken(errors string) []string {
	if exists(errors) {
		return []string{s.logFile(), errors}
	}
	return []string{s.logFile()}
}

// agentState asks launchd how an agent stands.
func (s *Service) agentState(ctx context.Context, target string) State {
	out, err := s.o.Run(ctx, "launchctl", "print", target)
	if err != nil {
		return State{Says: "not loaded"}
	}
	st := State{AtLogin: true, Says: "loaded"}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		switch key {
		case "state":
			if st.Says == "loaded" { // the first one is the agent's own
				st.Says, st.Running = value, value == "running"
			}
		case "pid":
			st.PID, _ = strconv.Atoi(value) // 0 where there is none
		case "runs":
			if n, err := strconv.Atoi(value); err == nil && n > 0 {
				st.Restarts = n - 1
			}
		}
	}
	return st
}

// quoteXML is a text between two tags.
func quoteXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return b.String()
}
