import type { ComponentChild, VNode } from "preact";

interface FigureTableProps {
  readonly head: readonly string[];
  readonly rows: readonly (readonly ComponentChild[])[];
}

/** A table of figures that scrolls sideways if it is too wide. */
export function FigureTable({ head, rows }: FigureTableProps): VNode {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={head.join(", ")}>
      <table class="figure-table">
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, column) => (
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
