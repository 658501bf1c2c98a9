// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"testing"

	"github.com/openai/openai-go/v3"
	_ "github.com/openai/openai-go/v3/option"
	_ "github.com/openai/openai-go/v3/responses"
	_ "github.com/tacho-go/tacho"
	_ "github.com/tacho-go/tacho/sim"
)

func TestX(*testing.T) { _ = openai.NewClient }
