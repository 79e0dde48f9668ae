package hostapi

import "context"

// styles lists the output styles. They are read on each request, so there is nothing to reload.
func (a api) styles(context.Context, none) (any, error) {
	current, names := a.Env.Styles.List()
	return object{"output_style": current, "available_output_styles": names}, nil
}
