// The page of the reload tests with the official client of AG-UI. `sessionStorage` keeps its messages across reloads.
import { HttpAgent } from "@ag-ui/client";

const threadId = new URLSearchParams(location.search).get("thread");
const url = new URL("/run", location.href).href;
const stored = JSON.parse(sessionStorage.getItem(threadId) ?? "[]");
const agent = new HttpAgent({ url, threadId, initialMessages: stored });
let interrupts = [];
let isBusy = false;
let error;
agent.subscribe({
  onMessagesChanged({ messages }) {
    sessionStorage.setItem(threadId, JSON.stringify(messages));
    document.querySelector("main").textContent = JSON.stringify(messages, null, 1);
  },
  onRunFinishedEvent({ event }) {
    interrupts = event.outcome?.type === "interrupt" ? event.outcome.interrupts : [];
  },
  onRunErrorEvent({ event }) {
    error = event.message;
  },
});

async function run(parameters = {}) {
  isBusy = true;
  interrupts = [];
  try {
    await agent.runAgent(parameters);
  } catch (thrown) {
    error = String(thrown);
  }
  isBusy = false;
}

const isAgentMessage = ({ role }) => role === "assistant" || role === "tool";

globalThis.testPage = {
  send(text) {
    agent.addMessage({ id: crypto.randomUUID(), role: "user", content: text });
    void run();
  },
  stop: () => fetch(`${url}?threadId=${threadId}`, { method: "DELETE" }),
  approve() {
    const resume = interrupts.map(({ id }) => ({
      interruptId: id,
      status: "resolved",
      payload: { approved: true },
    }));
    if (resume.length > 0) void run({ resume });
  },
  read() {
    const messages = agent.messages.filter(isAgentMessage);
    const results = new Map(messages.flatMap((m) => (m.role === "tool" ? [[m.toolCallId, m.content]] : [])));
    const resultCount = messages.filter(({ role }) => role === "tool").length;
    return {
      isSent: agent.messages.length > 0,
      isBusy,
      error: error ?? (resultCount === results.size ? undefined : "A tool result arrived twice."),
      needsApproval: interrupts.length > 0,
      text: messages.map((m) => (m.role === "assistant" ? (m.content ?? "") : "")).join(""),
      tools: messages.flatMap(({ toolCalls = [] }) =>
        toolCalls.map(({ id, function: { name, arguments: input } }) =>
          JSON.stringify({
            toolName: name,
            toolCallId: id,
            input: JSON.parse(input),
            output: results.has(id) ? JSON.parse(results.get(id)) : undefined,
          }),
        ),
      ),
    };
  },
};
if (stored.length > 0) void run();
document.body.dataset.ready = "";
