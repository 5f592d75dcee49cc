package transcribe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"time"

	"github.com/pion/opus"
	"github.com/pion/opus/pkg/oggreader"
)

const (
	// rate is the number of samples per second on which speech recognizers are trained.
	rate = 16_000
	// opusRate is the sample rate in which Opus counts (RFC 7845, section 4).
	opusRate = 48_000
	// maxPacket is the number of samples of the longest packet, 120 ms (RFC 6716, section 3.2.5).
	maxPacket = rate * 120 / 1000
)

var (
	errNotOpus = errors.New(textNotOpus)
	errTooLong = errors.New("it is too long")
)

// decode decodes a recording, Opus in an Ogg file, to one channel of samples. If it is
// longer than longest, decode stops reading and returns errTooLong.
func decode(data []byte, longest time.Duration) (samples []int16, err error) {
	// The decoder is new, and no recording may crash the bot.
	defer func() {
		if recover() != nil {
			samples, err = nil, errNotOpus
		}
	}()
	file, head, err := oggreader.NewWith(bytes.NewReader(data))
	if err != nil {
		return nil, errNotOpus
	}
	decoder, err := opus.NewDecoderWithOutput(rate, 1)
	if err != nil {
		return nil, err
	}
	skip := int(head.PreSkip) * rate / opusRate
	most := int(longest.Seconds()*rate) + skip
	packet := make([]int16, maxPacket)
	for {
		raw, _, err := file.ParseNextPacket()
		switch {
		case errors.Is(err, io.EOF):
			return samples[min(skip, len(samples)):], nil
		case err != nil:
			return nil, errNotOpus
		case bytes.HasPrefix(raw, []byte("OpusTags")), len(raw) == 0:
			continue
		}
		n, err := decoder.DecodeToInt16(raw, packet)
		if err != nil {
			return nil, errNotOpus
		}
		if samples = append(samples, packet[:n]...); len(samples) > most {
			return nil, errTooLong
		}
	}
}

const (
	// window is the number of samples in a tenth of a second.
	window = rate / 10
	// quiet is the loudness below which nothing counts as speech: -52 dB, the noise of a
	// quiet room.
	quiet = 80
)

// silent reports whether a recording contains no speech: no tenth of a second is louder
// than a quiet room. Models invent words when asked to transcribe silence.
func silent(samples []int16) bool {
	for at := 0; at < len(samples); at += window {
		part := samples[at:min(at+window, len(samples))]
		var sum int64
		for _, s := range part {
			sum += int64(s) * int64(s)
		}
		if sum >= quiet*quiet*int64(len(part)) {
			return false
		}
	}
	return true
}

// wav encodes the samples as a WAV file.
func wav(samples []int16) []byte {
	const header, width = 44, 2
	size := uint32(len(samples) * width)
	out := make([]byte, 0, header+int(size))
	put := func(v any) { out, _ = binary.Append(out, binary.LittleEndian, v) }
	out = append(out, "RIFF"...)
	put(size + header - 8)
	out = append(out, "WAVEfmt "...)
	put(uint32(16)) // size of the format
	put(uint16(1))  // PCM
	put(uint16(1))  // channels
	put(uint32(rate))
	put(uint32(rate * width))
	put(uint16(width))
	put(uint16(width * 8))
	out = append(out, "data"...)
	put(size)
	for _, s := range samples {
		out = binary.LittleEndian.AppendUint16(out, uint16(s))
	}
	return out
}
