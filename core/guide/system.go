package guide

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"ollimbot/core/prompt"
	"ollimbot/core/skill"
	"ollimbot/core/store"
)

// The profile. USER.md is made by nobody but the user.
const (
	identityFile = "IDENTITY.md"
	userFile     = "USER.md"
)

// SystemPrompt is the text that every session is opened with, of the profile
// and the skills as they are now. It reads files at every call, so that changes
// are in force for the next session; equal files give equal bytes.
func SystemPrompt(d *store.Dir, o Options) string {
	in := prompt.SystemInput{
		UserName: o.UserName, Zone: o.Zone, Google: o.Google, NoMail: o.NoMail, Webhooks: o.Webhooks,
		Identity: profile(d, identityFile), User: profile(d, userFile),
	}
	skills, _ := skill.List(d) // what is wrong with them is shown with the other files
	for _, s := range skills {
		folder := path.Base(path.Dir(s.Path))
		if !bundled(folder) {
			in.Skills = append(in.Skills, prompt.SkillLine{Name: folder, Description: s.Description})
		}
	}
	return prompt.System(in)
}

// profile is a file of the profile, or a line that says why it is not there.
func profile(d *store.Dir, name string) string {
	data, err := d.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return fmt.Sprintf(textNoProfile, name)
	}
	return string(data)
}
