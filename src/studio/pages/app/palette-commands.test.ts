import { describe, expect, it } from "vitest";
import { filterPaletteCommands } from "./palette-commands.ts";

const command = (label: string, detail?: string) => ({
  key: label,
  label,
  run: () => undefined,
  ...(detail === undefined ? {} : { detail }),
});

describe("the commands of the palette", () => {
  const commands = [
    command("Copy the task id", "y"),
    command("Task of planner: 6 * 7", "01a2-task"),
    command("Card of planner"),
    command("Task of solver"),
  ];
  const find = (query: string): string[] => filterPaletteCommands(commands, query).map(({ label }) => label);

  it("contain all words of the query, in any order and case, in the label or the detail", () => {
    expect(find("PLANNER task")).toEqual(["Task of planner: 6 * 7"]);
    expect(find("01a2")).toEqual(["Task of planner: 6 * 7"]);
    expect(find("planner solver")).toEqual([]);
    expect(find("  ")).toEqual(commands.map(({ label }) => label));
  });

  it("begin with the commands whose label begins with the query", () => {
    expect(find("task")).toEqual(["Task of planner: 6 * 7", "Task of solver", "Copy the task id"]);
  });

  it("are at most 50", () => {
    const many = Array.from({ length: 200 }, (_, at) => command(`Task ${at}`));
    expect(filterPaletteCommands(many, "task")).toHaveLength(50);
  });
});
