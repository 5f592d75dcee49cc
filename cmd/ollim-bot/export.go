package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/base/words"
	"ollimbot/core/storage/archive"
	"ollimbot/core/work/budget"
)

// leastPassphrase is the minimum length of a passphrase in bytes: an attacker may have
// years to guess it.
const leastPassphrase = 10

// Messages of export and import.
const (
	textPassphrase      = "Passphrase for the secrets (at least %d characters): "
	textPassphraseAgain = "Repeat it: "
	textPassphraseOf    = "Passphrase of the export: "
	textShortPassphrase = "a passphrase needs at least %d characters; four words are a good choice"
	textOtherPassphrase = "the passphrases differ; run the command again"
	textExported        = "Exported %s to %s (%s)."
	textHasIn           = "Included: %s of tasks, skills, settings, git history and state, %s unpacked, and %s of the conversation."
	textSecretsIn       = "Included: your tokens and keys, encrypted. Keep the passphrase: without it, not even you can read the file."
	textNoSecrets       = "Not included: .env and the keys for Google and SSH. To include them, encrypted with a passphrase, add --secrets."
	textNoLogin         = "Not included: the claude login, which belongs to this machine, and the remotes and hooks of the git history."
	textLeftOut         = "Not included: %s. An export holds only files and folders."
	textNextThere       = "To import it, copy the file to the other machine and run: ollim-bot import %s"
	textImportFits      = "%s can be imported: %s, %s in all, and %s of the conversation%s"
	textImported        = "%s now has what was in %s: %s, %s in all, and %s of the conversation%s"
	textMadeBy          = ", exported by ollim-bot %s on %s"
	textKeptBefore      = "What was there before is in %s."
	textTakenOn         = "Kept from the previous directory, because the import has no secrets: %s."
	textJoined          = "Joined with what was there, each entry once: %s."
	textKeptSessions    = "Kept, because they continued here: %s."
	textNoSecretsCame   = "The export had no secrets: `ollim-bot init` asks for the Discord token, `ollim-bot auth google` connects Google."
	textAfterImport     = "Next: ollim-bot auth login, ollim-bot check and ollim-bot doctor. Stop the old bot before you start this one: " +
		"two bots with one token answer everything twice."
)

type exportCmd struct {
	File    string `arg:"" help:"The file to write; it must not exist yet."`
	Secrets bool   `help:"Include tokens and keys, encrypted with a passphrase that is asked for."`
}

// Run writes the export.
func (c *exportCmd) Run(p *process, at console.DataDir) error {
	if err := p.UsersOnly(); err != nil {
		return err
	}
	o := archive.ExportOptions{Dir: at.Dir, Sessions: p.sessionsOf(at, at.Dir.Root()), File: c.File, Version: version, Now: at.Now}
	if c.Secrets {
		var err error
		if o.Passphrase, err = p.newPassphrase(); err != nil {
			return err
		}
	}
	s, err := archive.Export(o)
	if err != nil {
		return err
	}
	size := int64(0)
	if info, err := os.Stat(c.File); err == nil {
		size = info.Size()
	}
	lines := []string{
		fmt.Sprintf(textExported, at.Dir.Display(), c.File, words.Bytes(size)),
		fmt.Sprintf(textHasIn, words.Count(s.Files, "file"), words.Bytes(s.Bytes), words.Count(s.Sessions, "session")),
	}
	if c.Secrets {
		lines = append(lines, textSecretsIn)
	} else {
		lines = append(lines, textNoSecrets)
	}
	lines = append(lines, textNoLogin)
	lines = append(lines, leftOut(s.Left)...)
	return p.Lines(append(lines, fmt.Sprintf(textNextThere, console.Word(filepath.Base(c.File))))...)
}

// leftOut names files that are not included.
func leftOut(names []string) []string {
	const most = 5
	if len(names) == 0 {
		return nil
	}
	shown := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return []string{fmt.Sprintf(textLeftOut, shown)}
}

type importCmd struct {
	From    string `arg:"" name:"file|dir" help:"An export, or a data directory: the bot's or the original program's."`
	Replace bool   `help:"Replace a data directory that is not empty; the old one is kept next to it."`
	DryRun  bool   `name:"dry-run" help:"Check it, and change nothing."`
}

// Run imports an export or a directory.
func (c *importCmd) Run(p *process, at console.DataDir) error {
	if err := p.UsersOnly(); err != nil {
		return err
	}
	done, err := archive.Import(archive.ImportOptions{
		From: c.From, FromSessions: p.sessionsOf(at, c.From), Dir: at.Dir,
		Sessions:   func(dir string) string { return p.sessionsOf(at, dir) },
		Passphrase: func() (string, error) { return p.secretLine(textPassphraseOf) },
		Joins: map[string]func(was, comes []byte) []byte{
			budget.JournalFile: func(was, comes []byte) []byte { return budget.Join(was, comes, at.Env.Zone) },
		},
		Replace: c.Replace, Dry: c.DryRun, Now: at.Now,
	})
	if err != nil {
		return err
	}
	made := ""
	if done.Version != "" {
		made = fmt.Sprintf(textMadeBy, done.Version, done.Made.In(at.Env.Zone).Format(console.MomentLayout))
	}
	what := []any{words.Count(done.Files, "file"), words.Bytes(done.Bytes), words.Count(done.Sessions, "session"), made}
	if c.DryRun {
		return p.Lines(append([]string{fmt.Sprintf(textImportFits, append([]any{c.From}, what...)...)}, leftOut(done.Left)...)...)
	}
	lines := append([]string{fmt.Sprintf(textImported, append([]any{at.Dir.Display(), c.From}, what...)...)}, leftOut(done.Left)...)
	if done.Kept != "" {
		lines = append(lines, fmt.Sprintf(textKeptBefore, done.Kept))
	}
	if len(done.Joined) > 0 {
		lines = append(lines, fmt.Sprintf(textJoined, strings.Join(done.Joined, ", ")))
	}
	if done.KeptSess > 0 {
		lines = append(lines, fmt.Sprintf(textKeptSessions, words.Count(done.KeptSess, "session")))
	}
	switch {
	case len(done.TakenOn) > 0:
		lines = append(lines, fmt.Sprintf(textTakenOn, strings.Join(done.TakenOn, ", ")))
	case !done.Secrets:
		lines = append(lines, textNoSecretsCame)
	}
	return p.Lines(append(lines, textAfterImport)...)
}

// sessionsOf is the folder in which the claude command keeps the sessions of a directory.
// It may not exist yet.
func (p *process) sessionsOf(at console.DataDir, dir string) string {
	env := p.EngineEnviron(at)
	return filepath.Join(sessionfile.ConfigDir(env), sessionfile.Projects, sessionfile.Folder(dir))
}

// newPassphrase asks for a passphrase: twice on a terminal, once from a pipe.
func (p *process) newPassphrase() (string, error) {
	word, err := p.secretLine(fmt.Sprintf(textPassphrase, leastPassphrase))
	if err != nil {
		return "", err
	}
	if len(word) < leastPassphrase {
		return "", fmt.Errorf(textShortPassphrase, leastPassphrase)
	}
	if !p.Terminal() {
		return word, nil
	}
	again, err := p.secretLine(textPassphraseAgain)
	if err == nil && again != word {
		err = errors.New(textOtherPassphrase)
	}
	return word, err
}

// secretLine asks for a line without showing it.
func (p *process) secretLine(question string) (string, error) {
	p.Print("%s", question)
	return p.Secret(bufio.NewReader(p.In))
}
