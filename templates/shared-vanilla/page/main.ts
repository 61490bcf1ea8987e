import { createChat, type ChatStatus } from "colloquy/ui";

const list = document.querySelector(".messages")!;
const form = document.querySelector("form")!;
const input = document.querySelector("input")!;
const progress = document.querySelector("[role=status]")!;
const stop = document.querySelector<HTMLButtonElement>("form [type=button]")!;
const retry = document.querySelector<HTMLButtonElement>("#retry")!;

// The browser stores only the id of the conversation. After a reload, an answer that is still running continues.
const chat = createChat(new URL("/agents", location.href).href);

chat.subscribe(() => {
  const { messages, status, progressText, error } = chat.getSnapshot();
  progress.textContent = error?.message ?? (status === "reconnecting" ? "Reconnecting…" : progressText);
  stop.hidden = !isAnswering(status);
  retry.hidden = status !== "error";
  list.replaceChildren(
    ...messages.map(({ role, parts }) => {
      const item = document.createElement("li");
      item.className = role;
      // A message also has other parts: files, data, and tool calls.
      item.textContent = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
      return item;
    }),
  );
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = input.value.trim();
  // The text stays in the field until the agent has answered.
  if (text === "" || isAnswering(chat.getSnapshot().status)) return;
  input.value = "";
  void chat.send(text);
});
stop.addEventListener("click", () => void chat.stop());
retry.addEventListener("click", () => void chat.retry());

function isAnswering(status: ChatStatus): boolean {
  return !["ready", "waiting", "error"].includes(status);
}

await chat.resume();
