package pdf

import (
	"context"
	"maps"
	"slices"
)

// maxPages limits the number of pages.
const maxPages = 100_000

// A page is a page dictionary with its inherited entries.
type page struct{ dict dict }

// inherited lists the entries that a page inherits from its parents.
var inherited = [...]name{"Resources", "MediaBox", "CropBox", "Rotate"}

// findPages walks the page tree. If the tree is missing, it collects all page objects.
func (d *Document) findPages(ctx context.Context) error {
	d.pages = nil
	root := d.dict(d.trailer["Root"])
	w := walker{d: d, ctx: ctx, seen: map[int]bool{}}
	if err := w.walk(root["Pages"], dict{}, 0); err != nil {
		return err
	}
	if len(d.pages) > 0 {
		return nil
	}
	for _, num := range slices.Sorted(maps.Keys(d.xref)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p, ok := d.load(num).(dict); ok && d.resolve(p["Type"]) == name("Page") && len(d.pages) < maxPages {
			d.pages = append(d.pages, page{p})
		}
	}
	return nil
}

type walker struct {
	d     *Document
	ctx   context.Context
	seen  map[int]bool
	nodes int
}

func (w *walker) walk(o object, from dict, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if r, ok := o.(ref); ok {
		if w.seen[r.num] {
			return nil
		}
		w.seen[r.num] = true
	}
	node := w.d.dict(o)
	if w.nodes++; node == nil || depth > maxDepth || w.nodes > 2*maxPages {
		return nil
	}
	own := maps.Clone(from)
	for _, key := range inherited {
		if value, ok := node[key]; ok {
			own[key] = value
		}
	}
	kids := w.d.list(node["Kids"])
	if kids == nil {
		if kind := w.d.resolve(node["Type"]); kind == nil || kind == name("Page") {
			p := maps.Clone(node)
			maps.Copy(p, own)
			w.d.pages = append(w.d.pages, page{p})
		}
		return nil
	}
	for _, kid := range kids {
		if err := w.walk(kid, own, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// content returns a page's content stream.
func (d *Document) content(p page) []byte {
	var all []byte
	for _, o := range d.list(p.dict["Contents"]) {
		if s, ok := d.resolve(o).(*stream); ok {
			if data, err := d.decode(s); err == nil && len(all)+len(data) <= maxStream {
				all = append(append(all, data...), '\n')
			}
		}
	}
	return all
}

// Scan returns the JPEG image that page n, counted from 1, consists of, or nil if it is not a
// scanned page.
func (d *Document) Scan(n int) []byte {
	resources := d.dict(d.pages[n-1].dict["Resources"])
	var best []byte
	for _, o := range d.dict(resources["XObject"]) {
		s, ok := d.resolve(o).(*stream)
		if !ok || d.resolve(s.dict["Subtype"]) != name("Image") {
			continue
		}
		filters := d.list(s.dict["Filter"])
		if len(filters) == 0 || d.resolve(filters[len(filters)-1]) != name("DCTDecode") {
			continue
		}
		if data, rest, err := d.undo(s); err == nil && len(rest) == 1 && len(data) > len(best) {
			best = data
		}
	}
	return best
}
