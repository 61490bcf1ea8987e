import { createElement } from "./dom.ts";

/** Number of list rows that are rendered above and below the visible rows. */
const OVERSCAN_ROWS = 8;

/**
 * List that renders only its visible rows, which must all have the same height.
 * `renderRow` creates a list row, and `getRowKey` returns a key of the row content. Rows whose key is
 * unchanged are not rendered again.
 */
export class VirtualList<Item> {
  readonly element: HTMLElement;
  readonly #content: HTMLElement;
  readonly #rowHeight: number;
  readonly #renderRow: (item: Item, at: number) => HTMLElement;
  readonly #getRowKey: (item: Item, at: number) => string;
  readonly #renderedRows = new Map<string, HTMLElement>();
  #items: readonly Item[] = [];

  constructor(
    element: HTMLElement,
    rowHeight: number,
    renderRow: (item: Item, at: number) => HTMLElement,
    getRowKey: (item: Item, at: number) => string,
  ) {
    this.element = element;
    this.#rowHeight = rowHeight;
    this.#renderRow = renderRow;
    this.#getRowKey = getRowKey;
    this.#content = createElement("div", { class: "rows", role: "presentation" });
    element.append(this.#content);
    element.addEventListener("scroll", () => this.#renderVisibleRows(), { passive: true });
    new ResizeObserver(() => this.#renderVisibleRows()).observe(element);
  }

  get allItems(): readonly Item[] {
    return this.#items;
  }

  set allItems(items: readonly Item[]) {
    this.#items = items;
    this.#content.style.height = `${items.length * this.#rowHeight}px`;
    this.#renderVisibleRows();
  }

  /** Returns the element of a list row, or `undefined` if the row is not rendered. */
  findRowElement(at: number): HTMLElement | undefined {
    const item = this.#items[at];
    return item === undefined ? undefined : this.#renderedRows.get(this.#getRowKey(item, at));
  }

  scrollToRow(at: number): void {
    const top = at * this.#rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + this.#rowHeight > scrollTop + clientHeight)
      this.element.scrollTop = top + this.#rowHeight - clientHeight;
    this.#renderVisibleRows();
  }

  /** Number of list rows that Page Up and Page Down scroll: the number of visible rows minus one. */
  get rowsPerPage(): number {
    return Math.max(1, Math.floor(this.element.clientHeight / this.#rowHeight) - 1);
  }

  #renderVisibleRows(): void {
    const first = Math.max(0, Math.floor(this.element.scrollTop / this.#rowHeight) - OVERSCAN_ROWS);
    const seen = Math.ceil(this.element.clientHeight / this.#rowHeight) + 2 * OVERSCAN_ROWS;
    const wanted = new Map(
      this.#items.slice(first, first + seen).map((item, index) => {
        const at = first + index;
        return [this.#getRowKey(item, at), { item, at }] as const;
      }),
    );
    for (const [key, row] of this.#renderedRows) {
      if (wanted.has(key)) continue;
      row.remove();
      this.#renderedRows.delete(key);
    }
    for (const [key, { item, at }] of wanted) {
      if (this.#renderedRows.has(key)) continue;
      const row = this.#renderRow(item, at);
      row.style.top = `${at * this.#rowHeight}px`;
      row.style.height = `${this.#rowHeight}px`;
      this.#renderedRows.set(key, row);
      this.#content.append(row);
    }
  }
}
