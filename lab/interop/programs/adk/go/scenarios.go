package main

import (
	"slices"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"
)

type scenario struct {
	Turns   []scenarioTurn
	IsWhole bool
	IsLoop  bool
}

type scenarioTurn struct {
	Text         string
	File         *genai.Blob
	Answer       map[string]any
	Interruption bool
}

type sessionReport struct {
	Events    []*session.Event       `json:"events"`
	State     map[string]any         `json:"state"`
	Artifacts map[string]*genai.Part `json:"artifacts"`
}

const appName, userID, sessionID = "caller", "user", "session"

// runScenario runs a scenario with an agent in a Runner. It returns the session of the caller.
func runScenario(next scenario, tested agent.Agent, interrupt func()) (*sessionReport, error) {
	if next.IsLoop {
		tested = wrapInLoop(tested)
	}
	sessions, artifacts := session.InMemoryService(), artifact.InMemoryService()
	caller, err := runner.New(runner.Config{
		AppName: appName, Agent: tested, SessionService: sessions, ArtifactService: artifacts,
	})
	if err != nil {
		return nil, err
	}
	if _, err := sessions.Create(background, &session.CreateRequest{
		AppName: appName, UserID: userID, SessionID: sessionID, State: map[string]any{"color": "blue"},
	}); err != nil {
		return nil, err
	}
	mode := agent.StreamingModeSSE
	if next.IsWhole {
		mode = agent.StreamingModeNone
	}
	for _, turn := range next.Turns {
		if turn.Interruption {
			interrupt()
			continue
		}
		events, _ := getSession(sessions)
		message := createMessage(turn, events)
		config := agent.RunConfig{StreamingMode: mode}
		for _, err := range caller.Run(background, userID, sessionID, message, config) {
			if err != nil {
				return nil, err
			}
		}
	}
	report := &sessionReport{Artifacts: map[string]*genai.Part{}}
	report.Events, report.State = getSession(sessions)
	listed, err := artifacts.List(background, &artifact.ListRequest{
		AppName: appName, UserID: userID, SessionID: sessionID,
	})
	if err != nil {
		return nil, err
	}
	for _, name := range listed.FileNames {
		loaded, err := artifacts.Load(background, &artifact.LoadRequest{
			AppName: appName, UserID: userID, SessionID: sessionID, FileName: name,
		})
		if err != nil {
			return nil, err
		}
		report.Artifacts[name] = loaded.Part
	}
	return report, nil
}

func getSession(sessions session.Service) ([]*session.Event, map[string]any) {
	found, err := sessions.Get(background, &session.GetRequest{
		AppName: appName, UserID: userID, SessionID: sessionID,
	})
	must(err)
	state := map[string]any{}
	for key, value := range found.Session.State().All() {
		state[key] = value
	}
	return slices.Collect(found.Session.Events().All()), state
}

func wrapInLoop(tested agent.Agent) agent.Agent {
	nag, err := llmagent.New(llmagent.Config{Name: "nag", Model: scriptedModel{map[string][]replyStep{}}})
	must(err)
	loop, err := loopagent.New(loopagent.Config{
		AgentConfig:   agent.Config{Name: "loop", SubAgents: []agent.Agent{tested, nag}},
		MaxIterations: 3,
	})
	must(err)
	return loop
}

func createMessage(turn scenarioTurn, events []*session.Event) *genai.Content {
	parts := []*genai.Part{genai.NewPartFromText(turn.Text)}
	if turn.File != nil {
		parts = append(parts, &genai.Part{InlineData: turn.File})
	}
	if turn.Answer != nil {
		if call := findPendingCall(events); call != nil {
			parts = []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
				ID: call.ID, Name: call.Name, Response: turn.Answer,
			}}}
		} else if turn.Text == "" {
			parts = []*genai.Part{genai.NewPartFromText("There is no pending call.")}
		}
	}
	return genai.NewContentFromParts(parts, genai.RoleUser)
}

func findPendingCall(events []*session.Event) *genai.FunctionCall {
	var found *genai.FunctionCall
	for _, event := range events {
		if event.Content == nil {
			continue
		}
		for _, part := range event.Content.Parts {
			call := part.FunctionCall
			if call != nil && slices.Contains(event.LongRunningToolIDs, call.ID) {
				found = call
			}
		}
	}
	return found
}
