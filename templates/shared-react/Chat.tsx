"use client";
import { createChat, type ChatMessage } from "colloquy/ui";
import { useA2AChat } from "colloquy/ui/react";
import type { FormEvent } from "react";

/** The browser stores only the id of the conversation. After a reload, an answer that is still running continues. */
const chat = createChat(new URL("/agents", location.href).href);

/** A chat with the agent at `/agents`. */
export function ChatPage() {
  const { messages, status, progressText, error } = useA2AChat(chat);
  const isAnswering = !["ready", "waiting", "error"].includes(status);

  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = event.currentTarget;
    const text = String(new FormData(form).get("text")).trim();
    // The text stays in the field until the agent has answered.
    if (text === "" || isAnswering) return;
    form.reset();
    void chat.send(text);
  }

  return (
    <main>
      <h1>Chat</h1>
      <ol className="messages" aria-live="polite">
        {messages.map((message) => (
          <li key={message.id} className={message.role}>
            {getMessageText(message)}
          </li>
        ))}
      </ol>
      <p role="status">{error?.message ?? (status === "reconnecting" ? "Reconnecting…" : progressText)}</p>
      {error && (
        <button type="button" onClick={() => void chat.retry()}>
          Retry
        </button>
      )}
      <form onSubmit={send}>
        <input name="text" aria-label="Message" placeholder="Write a message" autoComplete="off" />
        {isAnswering ? (
          <button type="button" onClick={() => void chat.stop()}>
            Stop
          </button>
        ) : (
          <button>Send</button>
        )}
      </form>
    </main>
  );
}

/** A message also has other parts: files, data, and tool calls. */
function getMessageText({ parts }: ChatMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
