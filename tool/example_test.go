package tool_test

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/tool"
)

// A tool of a struct and a function; a program offers it by append(perdure.Tools(), weather) in its perdure.Config.
func ExampleFunc() {
	type place struct {
		City string `json:"city" doc:"its name"`
		Unit string `json:"unit,omitempty" enum:"celsius,fahrenheit"`
	}
	weather := tool.Func(tool.Spec{Name: "Weather", Description: "The weather in a city.", ReadOnly: true},
		func(_ context.Context, in place) (string, error) {
			if in.City == "" {
				return "", fmt.Errorf("name a city")
			}
			return "It rains in " + in.City + ".", nil
		})
	fmt.Println(weather.Spec().Schema)
	r, err := weather.Run(context.Background(), tool.Call{Name: "Weather", Input: []byte(`{"city":"Jena"}`)}, tool.Env{})
	fmt.Println(model.Text(r.Content), r.IsError, err)
	// Output: {"properties":{"city":{"description":"its name","type":"string"},"unit":{"enum":["celsius","fahrenheit"],"type":"string"}},"required":["city"],"type":"object"}
	// It rains in Jena. false <nil>
}
