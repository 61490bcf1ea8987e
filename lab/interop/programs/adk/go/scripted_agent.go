package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
)

// scriptedAgentFile is the content of scripted-agent.json.
type scriptedAgentFile struct {
	Name        string
	Description string
	Replies     map[string][]replyStep
	Tools       map[string]scriptedTool
}

type replyStep struct {
	Text      []string
	PauseMs   int
	Call      string
	Args      map[string]any
	File      *genai.Blob
	Error     string
	Code      string
	UserTexts bool
}

type scriptedTool struct {
	Parameters    []string
	Result        map[string]any
	IsLongRunning bool
	Escalates     bool
	Sets          map[string]any
	Saves         *struct {
		Name     string
		MIMEType string
		Data     []byte
	}
}

func readScript(path string) *scriptedAgentFile {
	bytes, err := os.ReadFile(path)
	must(err)
	script := &scriptedAgentFile{}
	must(json.Unmarshal(bytes, script))
	return script
}

// scriptedModel selects its reply by the last content of the request.
type scriptedModel struct{ replies map[string][]replyStep }

func (scriptedModel) Name() string { return "scripted" }

func (m scriptedModel) GenerateContent(
	_ context.Context, request *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		key := getReplyKey(request)
		steps, found := m.replies[key]
		if !found {
			steps = []replyStep{{Text: []string{fmt.Sprintf("The script has no reply to %s.", key)}}}
		}
		var parts []*genai.Part
		for _, step := range steps {
			switch {
			case step.Error != "":
				yield(&model.LLMResponse{ErrorCode: step.Code, ErrorMessage: step.Error}, nil)
				return
			case step.Call != "":
				parts = append(parts, genai.NewPartFromFunctionCall(step.Call, step.Args))
			case step.File != nil:
				parts = append(parts, &genai.Part{InlineData: step.File})
			default:
				chunks := step.Text
				if step.UserTexts {
					chunks = listUserTexts(request)
				}
				for _, chunk := range chunks {
					if !stream {
						continue
					}
					content := genai.NewContentFromText(chunk, genai.RoleModel)
					if !yield(&model.LLMResponse{Content: content, Partial: true}, nil) {
						return
					}
					time.Sleep(time.Duration(step.PauseMs) * time.Millisecond)
				}
				parts = append(parts, genai.NewPartFromText(strings.Join(chunks, "")))
			}
		}
		yield(&model.LLMResponse{Content: genai.NewContentFromParts(parts, genai.RoleModel)}, nil)
	}
}

// getReplyKey returns the name and status of the last tool result, or the text of the last content.
func getReplyKey(request *model.LLMRequest) string {
	var text strings.Builder
	var result *genai.FunctionResponse
	for _, part := range request.Contents[len(request.Contents)-1].Parts {
		text.WriteString(part.Text)
		if part.FunctionResponse != nil {
			result = part.FunctionResponse
		}
	}
	if result == nil {
		return text.String()
	}
	if status, ok := result.Response["status"].(string); ok {
		return result.Name + " " + status
	}
	return result.Name
}

func listUserTexts(request *model.LLMRequest) []string {
	var texts []string
	for _, content := range request.Contents {
		for _, part := range content.Parts {
			if content.Role != genai.RoleUser || part.Text == "" {
				continue
			}
			prefix := " | "
			if len(texts) == 0 {
				prefix = "You said: "
			}
			texts = append(texts, prefix+part.Text)
		}
	}
	return texts
}

func createScriptedAgent(script *scriptedAgentFile) agent.Agent {
	var tools []tool.Tool
	for name, definition := range script.Tools {
		tools = append(tools, createTool(name, definition))
	}
	created, err := llmagent.New(llmagent.Config{
		Name:        script.Name,
		Description: script.Description,
		Model:       scriptedModel{script.Replies},
		Tools:       tools,
	})
	must(err)
	return created
}

func createTool(name string, definition scriptedTool) tool.Tool {
	created, err := functiontool.New(functiontool.Config{
		Name:          name,
		Description:   name,
		IsLongRunning: definition.IsLongRunning,
	}, func(ctx agent.Context, _ map[string]any) (map[string]any, error) {
		if definition.Escalates {
			ctx.Actions().Escalate = true
		}
		for key, value := range definition.Sets {
			if err := ctx.State().Set(key, value); err != nil {
				return nil, err
			}
		}
		if saved := definition.Saves; saved != nil {
			part := genai.NewPartFromBytes(saved.Data, saved.MIMEType)
			if _, err := ctx.Artifacts().Save(ctx, saved.Name, part); err != nil {
				return nil, err
			}
		}
		return definition.Result, nil
	})
	must(err)
	return created
}
