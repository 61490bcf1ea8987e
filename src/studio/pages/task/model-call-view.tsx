import type { VNode } from "preact";
import { addModelLineUsage, formatPrice, NO_USAGE, type ModelLine } from "../../../observe/trace/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { formatCount, formatDuration } from "../cards/text-format.ts";
import { JsonTree } from "../parts/json-tree.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { PartBoundary } from "../parts/part-boundary.tsx";
import { PlainText } from "../parts/plain-text.tsx";
import { listModelMessages, type ModelMessage, type ModelMessagePart } from "./model-messages.ts";

/** What a model saw, what it replied, and what the call cost. */
export function ModelCallView({ line }: { readonly line: ModelLine }): VNode {
  const prompt = listModelMessages(line.prompt, "user");
  const reply = listModelMessages(line.reply, "assistant");
  const facts = [
    ["Model", line.provider === undefined ? line.model : `${line.model} (${line.provider})`],
    ["Tokens", formatTokens(line)],
    ["Price", formatPrice(addModelLineUsage(NO_USAGE, line))],
    ["Finish reason", line.finish_reason ?? ""],
    ["Duration", formatDuration(line.duration_ms)],
  ].filter(([, value]) => value !== "");
  return (
    <section class="model-call" aria-label="Model call">
      <dl class="facts">
        {facts.map(([name, value = ""]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <AgentText text={value} />
            </dd>
          </div>
        ))}
      </dl>
      {line.error !== undefined && (
        <p class="notice" data-tone="bad">
          <AgentText text={line.error} />
        </p>
      )}
      <h3>Prompt</h3>
      {prompt.length === 0 && <p class="soft">The record does not contain the prompt.</p>}
      <Messages messages={prompt} />
      <h3>Reply</h3>
      {reply.length === 0 && <p class="soft">No reply</p>}
      <Messages messages={reply} />
    </section>
  );
}

/** Formats the tokens of a call, for example `1,240 (800 cached) + 310 (120 reasoning)`. */
function formatTokens(line: ModelLine): string {
  const { input_tokens: input, output_tokens: output } = line;
  if (input === undefined && output === undefined) return "";
  const estimate = line.tokens_estimated === true ? " (estimated)" : "";
  return `${formatPart(input, line.cached_input_tokens, "cached")} + ${formatPart(output, line.reasoning_output_tokens, "reasoning")}${estimate}`;
}

function formatPart(tokens: number | undefined, part: number | undefined, name: string): string {
  return `${tokens === undefined ? "unknown" : formatCount(tokens)}${part ? ` (${formatCount(part)} ${name})` : ""}`;
}

function Messages({ messages }: { readonly messages: readonly ModelMessage[] }): VNode {
  return (
    <ol class="model-messages">
      {messages.map(({ role, parts }, at) => (
        <li key={at} data-role={role}>
          <strong>
            <AgentText text={role} />
          </strong>
          {parts.map((part, index) => (
            <PartBoundary key={index}>
              <MessagePart part={part} isReply={role === "assistant"} />
            </PartBoundary>
          ))}
        </li>
      ))}
    </ol>
  );
}

/** Prompts are shown as the model received them. Only a reply is Markdown. */
function MessagePart({
  part,
  isReply,
}: {
  readonly part: ModelMessagePart;
  readonly isReply: boolean;
}): VNode {
  if (part.kind === "text") return isReply ? <Markdown text={part.text} /> : <PlainText text={part.text} />;
  return (
    <div>
      {part.kind !== "json" && (
        <p>
          {part.kind === "call" ? "Calls " : "Result of "}
          <code>
            <AgentText text={part.tool} />
          </code>
        </p>
      )}
      <JsonTree value={part.value} />
    </div>
  );
}
