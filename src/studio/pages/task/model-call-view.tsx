import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { addModelLineUsage, formatPrice, NO_USAGE, type ModelLine } from "../../../observe/trace/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { formatCount, formatDuration } from "../cards/text-format.ts";
import { JsonTree } from "../parts/json-tree.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { PartBoundary } from "../parts/part-boundary.tsx";
import { PlainText } from "../parts/plain-text.tsx";
import { explainMissingPrice } from "../parts/token-count.tsx";
import {
  getModelSettings,
  listModelMessages,
  listOfferedTools,
  type ModelMessage,
  type ModelMessagePart,
  type OfferedTool,
} from "./model-messages.ts";

/** What a model saw, what it replied, and what the call cost. */
export function ModelCallView({ line }: { readonly line: ModelLine }): VNode {
  const prompt = useMemo(() => listModelMessages(line.prompt, "user"), [line.prompt]);
  const tools = useMemo(() => listOfferedTools(line.prompt), [line.prompt]);
  const settings = useMemo(() => getModelSettings(line.prompt), [line.prompt]);
  const reply = useMemo(() => listModelMessages(line.reply, "assistant"), [line.reply]);
  const usage = addModelLineUsage(NO_USAGE, line);
  const facts = [
    ["Model", line.provider === undefined ? line.model : `${line.model} (${line.provider})`],
    ["Tokens", formatTokens(line)],
    ["Price", formatPrice(usage) || explainMissingPrice(usage, line.model)],
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
      {prompt.length === 0 && <MissingContent name="prompt" isRecorded={line.prompt !== undefined} />}
      <Messages messages={prompt} />
      {tools.length > 0 && (
        <>
          <h3>Tools that the model could call</h3>
          <ul class="model-tools">
            {tools.slice(0, MAX_TOOLS).map((tool, index) => (
              <ToolItem key={index} tool={tool} />
            ))}
          </ul>
          {tools.length > MAX_TOOLS && <p class="hint">{formatCount(tools.length - MAX_TOOLS)} more tools</p>}
        </>
      )}
      {line.prompt !== undefined && (
        <>
          <h3>Settings</h3>
          {Object.keys(settings).length > 0 ? (
            <JsonTree value={settings} />
          ) : (
            <p class="soft">
              The record does not contain the settings of the call, such as the schema of the reply.
            </p>
          )}
        </>
      )}
      <h3>Reply</h3>
      {reply.length === 0 && <MissingContent name="reply" isRecorded={line.reply !== undefined} />}
      <Messages messages={reply} />
    </section>
  );
}

/** Largest number of tools that the page shows. */
const MAX_TOOLS = 100;

function ToolItem({ tool: { name, description, details } }: { readonly tool: OfferedTool }): VNode {
  return (
    <li>
      <code>
        <AgentText text={name} />
      </code>{" "}
      <AgentText text={description} />
      {Object.keys(details).length > 0 ? (
        <details>
          <summary>Schema</summary>
          <JsonTree value={details} />
        </details>
      ) : (
        <span class="soft"> (The record does not contain the schema.)</span>
      )}
    </li>
  );
}

function MissingContent({
  name,
  isRecorded,
}: {
  readonly name: string;
  readonly isRecorded: boolean;
}): VNode {
  return (
    <p class="soft">{isRecorded ? `The ${name} is empty.` : `The record does not contain the ${name}.`}</p>
  );
}

/** Formats the tokens of a call, for example `1,240 (800 cached) + 310 (120 reasoning)`. */
function formatTokens(line: ModelLine): string {
  const { input_tokens: input, output_tokens: output } = line;
  if (input === undefined && output === undefined) return "– (the agent reported no tokens)";
  const estimate = line.tokens_estimated === true ? " (estimated)" : "";
  return `${formatPart(input, line.cached_input_tokens, "cached")} + ${formatPart(output, line.reasoning_output_tokens, "reasoning")}${estimate}`;
}

function formatPart(tokens: number | undefined, part: number | undefined, name: string): string {
  return `${tokens === undefined ? "–" : formatCount(tokens)}${part ? ` (${formatCount(part)} ${name})` : ""}`;
}

/** Number of messages, and of parts of a message, that the page renders at once. A prompt can have thousands. */
const ITEMS_PER_STEP = 50;

function Messages({ messages }: { readonly messages: readonly ModelMessage[] }): VNode {
  const [limit, setLimit] = useState(ITEMS_PER_STEP);
  return (
    <>
      <ol class="model-messages">
        {messages.slice(0, limit).map((message, at) => (
          <MessageItem key={at} message={message} />
        ))}
      </ol>
      <MoreButton count={messages.length - limit} onClick={() => setLimit(limit + ITEMS_PER_STEP)} />
    </>
  );
}

function MessageItem({ message: { role, parts } }: { readonly message: ModelMessage }): VNode {
  const [limit, setLimit] = useState(ITEMS_PER_STEP);
  return (
    <li data-role={role}>
      <strong>
        <AgentText text={role} />
      </strong>
      {parts.slice(0, limit).map((part, index) => (
        <PartBoundary key={index}>
          <MessagePart part={part} isReply={role === "assistant"} />
        </PartBoundary>
      ))}
      <MoreButton count={parts.length - limit} onClick={() => setLimit(limit + ITEMS_PER_STEP)} />
    </li>
  );
}

function MoreButton({
  count,
  onClick,
}: {
  readonly count: number;
  readonly onClick: () => void;
}): VNode | null {
  if (count <= 0) return null;
  return (
    <button type="button" onClick={onClick}>
      {formatCount(count)} more
    </button>
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
          {part.kind === "call" ? "Calls " : part.tool === "" ? "Result" : "Result of "}
          {part.tool !== "" && (
            <code>
              <AgentText text={part.tool} />
            </code>
          )}
        </p>
      )}
      <JsonTree value={part.value} />
    </div>
  );
}
