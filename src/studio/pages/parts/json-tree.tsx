import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { escapeControlCharacters } from "../../../cards/index.ts";
import { isObject, type JsonValue } from "../../../protocol/index.ts";

/** Children that a node shows before the button "more". */
const CHILDREN_PER_STEP = 100;
const MAX_OPEN_CHILDREN = 20;
const SHORT_TEXT_LENGTH = 400;

interface JsonTreeProps {
  readonly value: JsonValue;
  /** Levels that are open at first. Default: 2. */
  readonly openLevels?: number;
}

/** A JSON value as a tree, whose nodes render when they are opened. */
export function JsonTree({ value, openLevels = 2 }: JsonTreeProps): VNode {
  return (
    <div class="json-tree">
      <JsonNode value={value} openLevels={openLevels} />
    </div>
  );
}

function JsonNode(props: {
  readonly name?: string;
  readonly value: JsonValue;
  readonly openLevels: number;
}): VNode {
  const { name, value, openLevels } = props;
  const entries = listChildren(value);
  const [isOpen, setIsOpen] = useState(openLevels > 0);
  // Two open levels with a hundred children each would be ten thousand nodes.
  const childLevels = (entries?.length ?? 0) > MAX_OPEN_CHILDREN ? 0 : openLevels - 1;
  const [limit, setLimit] = useState(CHILDREN_PER_STEP);
  const label =
    name === undefined ? undefined : <span class="json-name">{escapeControlCharacters(name)}: </span>;
  if (entries === undefined)
    return (
      <div class="json-leaf">
        {label}
        <JsonLeaf value={value} />
      </div>
    );
  const brackets = Array.isArray(value) ? "[]" : "{}";
  if (entries.length === 0)
    return (
      <div class="json-leaf">
        {label}
        {brackets}
      </div>
    );
  return (
    <div class="json-branch">
      <button type="button" class="json-toggle" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {label}
        <span class="soft">
          {brackets[0]}
          {entries.length}
          {brackets[1]}
        </span>
      </button>
      {isOpen && (
        <div class="json-children">
          {entries.slice(0, limit).map(([key, child]) => (
            <JsonNode key={key} name={key} value={child} openLevels={childLevels} />
          ))}
          {entries.length > limit && (
            <button type="button" onClick={() => setLimit(limit + CHILDREN_PER_STEP)}>
              {entries.length - limit} more
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function JsonLeaf({ value }: { readonly value: JsonValue }): VNode {
  const [isWhole, setIsWhole] = useState(false);
  if (typeof value !== "string") return <span class="json-value">{JSON.stringify(value)}</span>;
  const isLong = value.length > SHORT_TEXT_LENGTH;
  const shown = isLong && !isWhole ? `${value.slice(0, SHORT_TEXT_LENGTH)}…` : value;
  return (
    <>
      <bdi class="json-text">{escapeControlCharacters(JSON.stringify(shown))}</bdi>
      {isLong && !isWhole && (
        <button type="button" class="quiet" onClick={() => setIsWhole(true)}>
          all {value.length} characters
        </button>
      )}
    </>
  );
}

function listChildren(value: JsonValue): (readonly [string, JsonValue])[] | undefined {
  if (Array.isArray(value)) return value.map((child, index) => [String(index), child]);
  return isObject(value) ? Object.entries<JsonValue>(value) : undefined;
}
