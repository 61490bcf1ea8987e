// The functions of the reload tests on a page with `createChat`.
import { createChat } from "colloquy/ui";

const storageKey = new URLSearchParams(location.search).get("thread");
export const chat = createChat(new URL("/agents", location.href).href, { storageKey });
const hasLoaded = new Promise((resolve) => {
  void chat.resume().then(resolve);
  chat.subscribe(() => {
    if (chat.getSnapshot().messages.length > 0) resolve();
  });
});

globalThis.testPage = {
  send: (text) => void chat.send(text),
  stop: () => chat.stop(),
  approve() {
    for (const { approval } of chat.getSnapshot().approvals) void chat.approve(approval.id);
  },
  read() {
    const { messages, status, approvals, error } = chat.getSnapshot();
    const parts = messages.flatMap(({ role, parts }) => (role === "agent" ? parts : []));
    return {
      isSent: messages.length > 0,
      isBusy: status === "loading" || status === "sending" || status === "streaming",
      error: error?.message,
      needsApproval: approvals.length > 0,
      text: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
      tools: parts.flatMap((part) =>
        part.type === "tool"
          ? [
              JSON.stringify({
                toolName: part.toolName,
                toolCallId: part.toolCallId,
                input: part.input,
                output: part.output,
              }),
            ]
          : [],
      ),
    };
  },
};
await hasLoaded;
document.body.dataset.ready = "";
