import type { PageSample } from "../run-model.ts";
import { type SampleSummary, summarizeSample } from "../sample-summary.ts";
import { toSingleLine } from "../../views/text-width.ts";
import { requireElementById, createElement, createIsolatedText } from "./dom.ts";
import { VirtualList } from "./virtual-list.ts";
import { formatDuration, formatSampleId, formatTokenTotal } from "./text-format.ts";

const OUTCOME_MARKS: Readonly<Record<SampleSummary["outcome"], readonly [mark: string, label: string]>> = {
  correct: ["✓", "correct"],
  wrong: ["✗", "wrong"],
  skipped: ["–", "skipped because of an error"],
  unscored: ["…", "not scored"],
  waiting: ["·", "not started"],
};

/** Selectable list of the problems that match the filter. The arrow keys change the selected problem. */
export class SampleList {
  readonly #list: VirtualList<PageSample>;
  readonly #onSelect: (id: string) => void;
  #selectedId: string | undefined;

  constructor(choose: (id: string) => void) {
    this.#onSelect = choose;
    const element = requireElementById("samples");
    this.#list = new VirtualList<PageSample>(
      element,
      56,
      (sample, at) => this.#renderRow(sample, at),
      // A changed problem is rendered again.
      ({ id, version }) => `${id} ${version} ${id === this.#selectedId}`,
    );
    element.addEventListener("keydown", (event) => {
      const pages: Record<string, number> = {
        PageDown: this.#list.rowsPerPage,
        PageUp: -this.#list.rowsPerPage,
      };
      const step = pages[event.key];
      if (step !== undefined) this.moveSelection(step);
      else if (event.key === "Home") this.moveSelection(Number.NEGATIVE_INFINITY);
      else if (event.key === "End") this.moveSelection(Number.POSITIVE_INFINITY);
      else return;
      event.preventDefault();
    });
  }

  render(samples: readonly PageSample[], selectedId: string | undefined): void {
    const hasMoved = selectedId !== this.#selectedId;
    this.#selectedId = selectedId;
    this.#list.allItems = samples;
    const at = samples.findIndex(({ id }) => id === selectedId);
    if (at >= 0 && hasMoved) this.#list.scrollToRow(at);
    const active = this.#list.findRowElement(at)?.id;
    if (active === undefined) this.#list.element.removeAttribute("aria-activedescendant");
    else this.#list.element.setAttribute("aria-activedescendant", active);
  }

  /** Moves the selection down by the given number of list rows. */
  moveSelection(steps: number): void {
    const { allItems: items } = this.#list;
    const at = items.findIndex(({ id }) => id === this.#selectedId);
    const to = at < 0 ? (steps > 0 && Number.isFinite(steps) ? 0 : at + steps) : at + steps;
    const next = items[Math.min(items.length - 1, Math.max(0, to))];
    if (next) this.#onSelect(next.id);
  }

  #renderRow(sample: PageSample, at: number): HTMLElement {
    const summary = summarizeSample(sample);
    const [mark, label] = OUTCOME_MARKS[summary.outcome];
    const notes = [
      ...(summary.errorCount > 0 ? ["error"] : []),
      ...(summary.isPartial ? ["partial"] : []),
      ...(summary.tokens.isReported && summary.tokens.total > 0
        ? [`${formatTokenTotal(summary.tokens)} tok`]
        : []),
      ...(summary.durationMs > 0 ? [formatDuration(summary.durationMs)] : []),
    ].join(" · ");
    return createElement(
      "div",
      {
        class: `sample ${summary.outcome}`,
        role: "option",
        id: `sample-${at}`,
        "aria-selected": String(sample.id === this.#selectedId),
        "aria-posinset": at + 1,
        "aria-setsize": this.#list.allItems.length,
        onclick: () => this.#onSelect(sample.id),
      },
      createElement("span", { class: "mark", role: "img", "aria-label": label, title: label }, mark),
      createIsolatedText(formatSampleId(sample.id), { class: "id" }),
      createElement("span", { class: "notes" }, notes),
      createIsolatedText(toSingleLine(summary.question.slice(0, 160)), { class: "question" }),
    );
  }
}
