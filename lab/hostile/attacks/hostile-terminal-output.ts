import { createLogObserver } from "../../../src/observe/logging/index.ts";
import { runCliInTestProcess } from "../../../src/cli/cli-test-process.fixture.ts";
import { startHostileServer, type HostileAnswer } from "../../../src/cli/hostile-server.fixture.ts";
import { defineBoundaryAttack, type BoundaryAttack } from "../attack.ts";

// oxlint-disable-next-line no-control-regex -- control characters are what must not be there
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;
const HOSTILE_TEXT =
  "\u001b]0;title\u0007\u001b[2J\u009b31m\u202egpj.exe\r\u001b]8;;https://evil.example\u0007";
const ANSWERS: readonly HostileAnswer[] = ["result", "error", "status", "garbage"];

export const attack: BoundaryAttack = defineBoundaryAttack({
  title: "an agent sends control sequences in its card, tasks, errors, and raw responses",
  run: async () => {
    const server = await startHostileServer();
    const problems = new Set<string>();
    for (const command of ["card get AGENT", "send AGENT hi", "task get AGENT t", "task list AGENT"])
      for (const answer of ANSWERS)
        for (const flags of [[], ["--debug"], ["--verbose", "--stream"], ["-o", "json"]]) {
          server.setText(HOSTILE_TEXT, answer);
          const args = [...command.replace("AGENT", server.url).split(" "), ...flags];
          const { out, err } = await runCliInTestProcess(args, { stdoutColumns: 80 });
          if (CONTROL.test(out)) problems.add(`stdout of ${command} has control characters`);
          if (CONTROL.test(err)) problems.add(`stderr of ${command} has control characters`);
        }
    server.close();
    const log: string[] = [];
    createLogObserver({ format: "pretty", write: (line) => log.push(line) }).onError?.({
      where: "agent",
      error: "failed\n12:00:00 info store: forged",
    });
    if (/^12:00:00 info/m.test(log.join(""))) problems.add("an error forges an entry of the log");
    return { problems: [...problems] };
  },
});
