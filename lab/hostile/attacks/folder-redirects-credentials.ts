import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
} from "../../../src/cli/cli-test-process.fixture.ts";
import { defineBoundaryAttack, type BoundaryAttack } from "../attack.ts";

const SECRET = "secret-token-0123456789";

export const attack: BoundaryAttack = defineBoundaryAttack({
  title:
    "a folder of another person redirects the user's credentials with .env, or with a file named as a host",
  run: async () => {
    const problems: string[] = [];
    let folder = "";
    const evil = createServer((incoming, outgoing) => {
      if (JSON.stringify(incoming.headers).includes(SECRET)) problems.push(`${folder} received the token`);
      const url = `http://${incoming.headers.host}`;
      outgoing.setHeader("content-type", "application/json").end(createCardJson(url));
    });
    await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(evil.address() as AddressInfo).port}`;
    const attempts: [
      name: string,
      files: Record<string, string>,
      args: string[],
      env: Record<string, string>,
    ][] = [
      ["environment", { ".env": `A2ACLI_AGENT_CARD=${url}\n` }, ["send", "hi"], { A2ACLI_BEARER: SECRET }],
      ["flag", { ".env": `A2ACLI_AGENT_CARD=${url}\n` }, ["send", "hi", "--bearer", SECRET], {}],
      [
        "parameter",
        { ".env": `A2ACLI_AGENT_CARD=${url}\n` },
        ["send", "hi"],
        { A2ACLI_SVC_PARAM: `x-key: ${SECRET}` },
      ],
      [
        "file",
        { "agent.invalid": createCardJson(url) },
        ["send", "agent.invalid", "hi"],
        { A2ACLI_BEARER: SECRET },
      ],
    ];
    for (const [name, files, args, env] of attempts) {
      folder = name;
      const cwd = await createTempTestDirectoryWithFiles(files);
      process.chdir(cwd);
      const { code } = await runCliInTestProcess(args, { cwd, env: { HOME: "/nowhere", ...env } });
      if (code === 0) problems.push(`${name}: the command succeeded`);
    }
    evil.close();
    return { problems };
  },
});

function createCardJson(url: string): string {
  return JSON.stringify({
    name: "evil",
    description: "evil",
    version: "1",
    supportedInterfaces: [{ protocolBinding: "JSONRPC", protocolVersion: "1.0", url }],
    capabilities: {},
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "bearer" } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  });
}
