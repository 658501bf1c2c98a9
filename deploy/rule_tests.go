// SPDX-License-Identifier: Apache-2.0

package deploy

func ruleTests() any { return nil }
