package guide

import (
	"fmt"
	"os"

	"ollimbot/core/store"
)

// Offer is a file of which the program brings a newer version than the one that
// is there.
type Offer struct {
	File   string // relative to the data directory
	Edited bool   // the user has changed theirs, or it never was ours
	Text   string // a sentence: what is offered, and how to take it
}

// Offers are the newer versions that Install does not put in by itself, in the
// order of their paths. It only reads; what cannot be read is not offered. A
// file that is the user's own arrangement (a link, a folder) is none.
func Offers(d *store.Dir) []Offer {
	list, err := items()
	if err != nil {
		return nil
	}
	root, err := os.OpenRoot(d.Root())
	if err != nil {
		return nil
	}
	defer root.Close()
	var records map[string]record
	if _, err := d.PeekJSON(recordFile, &records); err != nil {
		return nil // the doctor tells it with the other state files
	}
	var offers []Offer
	for _, it := range list {
		known := records[it.path]
		there, err := look(root, d, it.path)
		if it.rule == once || err != nil || there.is != ordinary || known.Ours == it.version {
			continue
		}
		edited := known.File != hash(there.data)
		if it.rule == follow && !edited {
			continue // the next start refreshes it
		}
		offers = append(offers, Offer{File: it.path, Edited: edited, Text: offerText(it.path, edited)})
	}
	return offers
}

func offerText(file string, edited bool) string {
	text := textOffer
	if edited {
		text = textOfferEdited
	}
	return fmt.Sprintf(text, file, file)
}
