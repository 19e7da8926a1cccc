// Json fills its heap with documents that encoding/json has decoded into interfaces, as programs do that do not know the
// types of the documents that they receive: maps of interfaces, slices of interfaces, strings and numbers, each of which
// is an object on the heap. See grow for its arguments.
package main

import (
	"encoding/json"
	"math/rand"
	"strconv"

	"heaps/grow"
)

var random = rand.New(rand.NewSource(1))

var words = []string{"id", "name", "type", "items", "total", "address", "customer", "created", "tags", "url", "parent",
	"description", "price", "currency", "status", "location", "children", "value", "unit", "comment"}

func word() string { return words[random.Intn(len(words))] }

func appendText(text []byte) []byte {
	switch random.Intn(3) {
	case 0:
		return strconv.AppendQuote(text, word())
	case 1:
		return strconv.AppendQuote(text, word()+" "+strconv.Itoa(random.Int()))
	}
	return strconv.AppendQuote(text, "https://example.com/"+word()+"/"+strconv.Itoa(random.Intn(1000)))
}

// appendValue appends a random document whose values are nested at most levels deep.
func appendValue(text []byte, levels int) []byte {
	kind := random.Intn(10)
	switch {
	case levels > 0 && kind < 5:
		text = append(text, '{')
		for i := 1 + random.Intn(12); i > 0; i-- {
			text = strconv.AppendQuote(text, word())
			text = append(text, ':')
			text = appendValue(text, levels-1)
			text = append(text, ',')
		}
		text[len(text)-1] = '}'
	case levels > 0 && kind < 7:
		text = append(text, '[')
		for i := 1 + random.Intn(8); i > 0; i-- {
			text = appendValue(text, levels-1)
			text = append(text, ',')
		}
		text[len(text)-1] = ']'
	case kind < 8:
		text = appendText(text)
	case kind < 9:
		text = strconv.AppendFloat(text, random.Float64()*1000, 'f', 2, 64)
	default:
		text = append(text, []string{"true", "false", "null"}[random.Intn(3)]...)
	}
	return text
}

func main() {
	const perDocument = 600 // objects, approximately
	grow.Main(func(missing uint64) interface{} {
		documents := []interface{}{}
		for i := uint64(0); i < missing/perDocument+1; i++ {
			var document interface{}
			if err := json.Unmarshal(appendValue(nil, 4), &document); err != nil {
				panic(err)
			}
			documents = append(documents, document)
		}
		return documents
	})
}
