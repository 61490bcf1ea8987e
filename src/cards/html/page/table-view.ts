import type { PageSample, PageCard } from "../run-model.ts";
import { findCardStatusOrErrorType, countCardTokens } from "../sample-summary.ts";
import { getCardTypeClass } from "../../views/card-type-class.ts";
import { toSingleLine } from "../../views/text-width.ts";
import { createElement, createIsolatedText } from "./dom.ts";
import { VirtualList } from "./virtual-list.ts";
import { formatCount, formatDuration } from "./text-format.ts";

/** Row in the table of message cards. */
interface CardTableRow {
  readonly sample: PageSample;
  readonly pageCard: PageCard;
  /** Number of the message card within its problem, starting at 1. */
  readonly cardNumber: number;
}

const COLUMN_NAMES = ["problem", "#", "type", "from", "to", "content", "status", "tokens", "time"] as const;

/** Renders the table of message cards of one problem or of the entire run. */
export function renderTableView(
  rows: readonly CardTableRow[],
  chosen: PageCard | undefined,
  choose: (row: CardTableRow) => void,
): HTMLElement {
  const body = createElement("div", {
    class: "table-body",
    role: "rowgroup",
    tabindex: 0,
    "aria-label": "Cards",
  });
  const table = createElement(
    "div",
    { class: "table", role: "table", "aria-label": "Cards", "aria-rowcount": rows.length + 1 },
    createElement(
      "div",
      { role: "rowgroup" },
      createElement(
        "div",
        { class: "table-row table-head", role: "row" },
        ...COLUMN_NAMES.map((name) =>
          createElement("span", { role: "columnheader", class: `c-${name === "#" ? "number" : name}` }, name),
        ),
      ),
    ),
    body,
  );
  const at = rows.findIndex(({ pageCard: seen }) => seen === chosen);
  let active = Math.max(0, at);
  const list = new VirtualList<CardTableRow>(
    body,
    32,
    (row, place) =>
      renderRow(row, place, { isChosen: row.pageCard === chosen, isActive: place === active }, choose),
    ({ sample, cardNumber: number }, place) => `${sample.id}/${number}/${place === active}`,
  );
  const goTo = (place: number): void => {
    active = Math.min(rows.length - 1, Math.max(0, place));
    list.scrollToRow(active);
    body.setAttribute("aria-activedescendant", list.findRowElement(active)?.id ?? "");
  };
  body.addEventListener("keydown", (event) => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: list.rowsPerPage,
      PageUp: -list.rowsPerPage,
      Home: Number.NEGATIVE_INFINITY,
      End: Number.POSITIVE_INFINITY,
    };
    const [step, row] = [steps[event.key], rows[active]];
    if (step !== undefined) goTo(active + step);
    else if (event.key === "Enter" && row) choose(row);
    else return;
    event.preventDefault();
  });
  list.allItems = rows;
  // Scrolling requires that the table has a height.
  if (at >= 0) requestAnimationFrame(() => goTo(at));
  return table;
}

function renderRow(
  { sample, pageCard: seen, cardNumber: number }: CardTableRow,
  at: number,
  { isChosen, isActive }: { readonly isChosen: boolean; readonly isActive: boolean },
  choose: (row: CardTableRow) => void,
): HTMLElement {
  const { card } = seen;
  const tokens = countCardTokens(card);
  return createElement(
    "div",
    {
      class: `table-row ${getCardTypeClass(card.message_type)}${isChosen ? " chosen" : ""}${isActive ? " active" : ""}`,
      role: "row",
      id: `row-${at}`,
      "aria-rowindex": at + 2,
      onclick: () => choose({ sample, pageCard: seen, cardNumber: number }),
    },
    renderCell("problem", createIsolatedText(sample.id)),
    renderCell("number", String(number)),
    renderCell("type", createIsolatedText(card.message_type)),
    renderCell("from", createIsolatedText(card.sender)),
    renderCell("to", createIsolatedText(card.recipient)),
    renderCell("content", createIsolatedText(toSingleLine(card.content.slice(0, 300)))),
    renderCell("status", createIsolatedText(findCardStatusOrErrorType(card) ?? "")),
    renderCell("tokens", tokens > 0 ? formatCount(tokens) : ""),
    renderCell("time", card.metadata.duration_ms ? formatDuration(card.metadata.duration_ms) : ""),
  );
}

function renderCell(name: string, ...content: readonly (Node | string)[]): HTMLElement {
  return createElement("span", { role: "cell", class: `c-${name}` }, ...content);
}
