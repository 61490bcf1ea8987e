/** Reads the files of `deploy/` and the `Dockerfile`. */
import { readFileSync } from "node:fs";
import { loadAll } from "js-yaml";

/** A member of a parsed YAML file, of any type. */
export interface YamlNode {
  readonly [name: string]: YamlNode;
}

const ROOT = new URL("../../../", import.meta.url);

export function readRepositoryFile(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

/** Reads all documents of a YAML file, and finds the document of `kind`. Without `kind`, returns the first document. */
export function readYaml(path: string, kind?: string): YamlNode {
  const documents = loadAll(readRepositoryFile(path)) as (YamlNode & { readonly kind?: unknown })[];
  const found = documents.find((document) => kind === undefined || document.kind === kind);
  if (!found) throw new Error(`${path} has no ${kind}.`);
  return found;
}

/** A command that starts a node, and the environment variables that its file sets. */
export interface NodeCommand {
  readonly file: string;
  /** Arguments of `colloquy`. */
  readonly args: readonly string[];
  readonly environment: readonly string[];
  /** Seconds between SIGTERM and SIGKILL. */
  readonly stopSeconds: number;
}

/** Docker and Cloud Run kill a container 10 seconds after SIGTERM. Cloud Run has no setting for this time. */
const CONTAINER_STOP_SECONDS = 10;

const toTexts = (list: unknown): string[] => (list as unknown[]).map(String);
const toNames = (list: unknown): string[] => (list as { name: string }[]).map(({ name }) => name);

/** Returns the commands of all files that start a node. */
export function listNodeCommands(): NodeCommand[] {
  const compose = readYaml("deploy/compose.yaml")["services"]!;
  const composeCommands = ["node-1", "node-2"].map((name) => ({
    file: `deploy/compose.yaml (${name})`,
    args: toTexts(compose[name]!["command"]),
    environment: Object.keys(compose[name]!["environment"]!),
    stopSeconds: Number.parseInt(compose[name]!["stop_grace_period"] as unknown as string, 10),
  }));
  const podCommands = [
    { file: "deploy/kubernetes/colloquy.yaml", kind: "Deployment" },
    { file: "deploy/cloud-run.yaml", kind: "Service" },
  ].map(({ file, kind }) => {
    const resource = readYaml(file, kind);
    const container = getContainer(resource);
    return {
      file,
      args: toTexts(container["args"]),
      environment: toNames(container["env"]),
      stopSeconds: findPodStopSeconds(resource) ?? CONTAINER_STOP_SECONDS,
    };
  });
  const cmd = /^CMD (\[.*\])$/m.exec(readRepositoryFile("Dockerfile"))?.[1] ?? "[]";
  const unit = readRepositoryFile("deploy/systemd/colloquy.service");
  const exec = /^ExecStart=\S+ \S+ (.*)$/m.exec(unit)?.[1] ?? "";
  return [
    ...composeCommands,
    ...podCommands,
    {
      file: "Dockerfile",
      args: toTexts(JSON.parse(cmd)),
      environment: ["COLLOQUY_TOKEN"],
      stopSeconds: CONTAINER_STOP_SECONDS,
    },
    {
      file: "deploy/systemd/colloquy.service",
      args: exec.split(" "),
      environment: findEnvFileNames(unit),
      stopSeconds: Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]),
    },
  ];
}

/** Returns the seconds that a pod has after `preStop`. Returns `undefined` for a Cloud Run resource. */
function findPodStopSeconds(resource: YamlNode): number | undefined {
  const graceSeconds = resource["spec"]!["template"]!["spec"]!["terminationGracePeriodSeconds"];
  if (graceSeconds === undefined) return undefined;
  const [, preStopSeconds] = toTexts(getContainer(resource)["lifecycle"]!["preStop"]!["exec"]!["command"]);
  return Number(graceSeconds) - Number(preStopSeconds);
}

/** Returns the only container of a Kubernetes or Cloud Run resource. */
export function getContainer(resource: YamlNode): YamlNode {
  return (resource["spec"]!["template"]!["spec"]!["containers"] as unknown as YamlNode[])[0]!;
}

/** Returns the variables that the comment of a systemd unit lists. */
function findEnvFileNames(unit: string): string[] {
  return [...unit.matchAll(/\b([A-Z_]+)=…/g)].map(([, name = ""]) => name);
}
