import { expect, it } from "vitest";
import { COMMANDS } from "./command-registry.ts";

it("the description of each group that lists commands lists all of them", () => {
  const groups = Object.entries(COMMANDS).flatMap(([name, entry]) =>
    "commands" in entry
      ? [{ name, description: entry.description, commands: Object.keys(entry.commands) }]
      : [],
  );
  const lists = groups.flatMap(({ name, description, commands }) => {
    const listed = /: ([a-z-]+(?:, [a-z-]+)*)\.$/.exec(description)?.[1]?.split(", ") ?? [];
    return listed.some((one) => commands.includes(one)) ? [{ name, listed, commands }] : [];
  });
  expect(lists.map(({ name }) => name)).toContain("trace");
  for (const { listed, commands } of lists) expect(listed.toSorted()).toEqual(commands.toSorted());
});
