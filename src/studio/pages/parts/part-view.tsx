import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { toSingleLine } from "../../../cards/index.ts";
import { type DataPart, type Part, type UrlPart } from "../../../protocol/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { findQuestionInPart } from "../task/find-questions.ts";
import { FileView } from "./file-view.tsx";
import { formatJson } from "./json-text.ts";
import { JsonTree } from "./json-tree.tsx";
import { Markdown } from "./markdown.tsx";
import { PartBoundary } from "./part-boundary.tsx";
import { PlainText } from "./plain-text.tsx";
import { decodeToolReport } from "./tool-report.ts";

/** Content of a message or an artifact. */
export function PartView({ part }: { readonly part: Part }): VNode {
  if ("text" in part) return <TextPartView text={part.text} />;
  if ("raw" in part) return <FileView part={part} />;
  if ("url" in part) return <LinkedFile part={part} />;
  const toolCall = describeToolCall(part) ?? describeQuestion(part);
  if (toolCall === undefined) return <JsonTree value={part.data} />;
  return (
    <details class="tool-call">
      <summary>
        <AgentText text={toolCall} />
      </summary>
      <JsonTree value={part.data} />
    </details>
  );
}

/** Describes a tool call or its result. Returns `undefined` for other data. */
function describeToolCall(part: DataPart): string | undefined {
  const report = decodeToolReport(part);
  if (report === undefined) return undefined;
  const { name = "", arguments: input, result, error } = report;
  const content = error ?? toSingleLine(formatJson(input ?? result));
  return `${input === undefined ? "Tool result" : "Tool call"} ${name} ${content.slice(0, MAX_SUMMARY_LENGTH)}`;
}

/** Describes a question that the page answers with a form. The form shows the question while it is open. */
function describeQuestion(part: DataPart): string | undefined {
  const question = findQuestionInPart(part, 0);
  if (question?.kind === "form")
    return `Question: ${question.title} (${question.fields.map(({ title }) => title).join(", ")})`;
  return question && `Question: ${question.title}`;
}

const MAX_SUMMARY_LENGTH = 120;

interface PartListProps {
  readonly parts: readonly Part[];
  /** Changes with the parts, if they grow in place. */
  readonly version?: number;
}

/** The parts of a message or an artifact, in order. */
export function PartList({ parts }: PartListProps): VNode {
  if (parts.length === 0) return <p class="soft">No content</p>;
  return (
    <div class="parts">
      {joinAdjacentTexts(parts).map((part, index) => (
        <PartBoundary key={index}>
          <PartView part={part} />
        </PartBoundary>
      ))}
    </div>
  );
}

/** Streamed text arrives in many parts, which are one text to the reader. */
function joinAdjacentTexts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last !== undefined && "text" in last && "text" in part && last.mediaType === part.mediaType)
      joined[joined.length - 1] = { ...last, text: last.text + part.text };
    else joined.push(part);
  }
  return joined;
}

/** Characters whose meaning Markdown changes. Other text looks the same as its source. */
const MARKUP_PATTERN = /[*_`#|[<~]|^[ \t]{0,20}(?:[-+>]|\d{1,9}[.)])\s/m;

function TextPartView({ text }: { readonly text: string }): VNode {
  const [isSource, setIsSource] = useState(false);
  return (
    <div class="text-part">
      {isSource ? <PlainText text={text} /> : <Markdown text={text} />}
      {MARKUP_PATTERN.test(text) && (
        <button
          type="button"
          class="quiet source-toggle"
          aria-pressed={isSource}
          onClick={() => setIsSource(!isSource)}
        >
          Source
        </button>
      )}
    </div>
  );
}

/** A file behind a URL. The page does not load the file. */
function LinkedFile({ part }: { readonly part: UrlPart }): VNode {
  const isWeb = /^https?:\/\//i.test(part.url);
  const text = part.filename === undefined ? part.url : `${part.filename}: ${part.url}`;
  return (
    <p class="linked-file">
      {isWeb ? (
        <a href={part.url} target="_blank" rel="noopener noreferrer nofollow">
          <AgentText text={text} />
        </a>
      ) : (
        <AgentText text={text} />
      )}
      {part.mediaType !== undefined && (
        <span class="soft">
          {" "}
          <AgentText text={part.mediaType} />
        </span>
      )}
    </p>
  );
}
