// The page of the reload tests with `useChat`. It shows the messages, and offers its functions to the test.
import { Chat, useChat } from "@ai-sdk/react";
import { lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { A2AChatTransport } from "colloquy/ui/ai-sdk";
import { createElement } from "react";
import { createRoot } from "react-dom/client";

const id = new URLSearchParams(location.search).get("thread");
const transport = new A2AChatTransport(new URL("/agents", location.href).href);
const chat = new Chat({
  id,
  transport,
  messages: await transport.loadMessages(id),
  sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
});

function Page() {
  const { messages } = useChat({ chat, resume: true });
  return createElement("pre", null, JSON.stringify(messages, null, 1));
}
createRoot(document.querySelector("main")).render(createElement(Page));

const listTools = () =>
  chat.messages.flatMap(({ parts }) => parts.filter(({ type }) => type === "dynamic-tool"));

globalThis.testPage = {
  send: (text) => void chat.sendMessage({ text }),
  stop: () => chat.stop(),
  approve() {
    for (const { state, approval } of listTools())
      if (state === "approval-requested")
        void chat.addToolApprovalResponse({ id: approval.id, approved: true });
  },
  read: () => ({
    isSent: chat.messages.length > 0,
    isBusy: chat.status === "submitted" || chat.status === "streaming",
    error: chat.error?.message,
    needsApproval: listTools().some(({ state }) => state === "approval-requested"),
    text: chat.messages
      .flatMap(({ role, parts }) => (role === "assistant" ? parts : []))
      .map((part) => (part.type === "text" ? part.text : ""))
      .join(""),
    tools: listTools().map(({ toolName, toolCallId, state, input, output }) =>
      JSON.stringify({
        toolName,
        toolCallId,
        input,
        output: state === "output-available" ? output : undefined,
      }),
    ),
  }),
};
document.body.dataset.ready = "";
