import { runChecks, type CheckGroup, type Diagnosis } from "../../studio/judge/index.ts";
import { INSTALL_CHECKS } from "./install-checks.ts";
import { readProject, type Project } from "./project.ts";
import { SECRET_CHECKS } from "./secret-checks.ts";
import { SERVER_CHECKS } from "./server-checks.ts";
import { STORE_CHECKS } from "./store-checks.ts";

const PROJECT_CHECKS: readonly CheckGroup<Project>[] = [
  { name: "Installation", checks: INSTALL_CHECKS },
  { name: "Agents and settings", checks: SERVER_CHECKS },
  { name: "Task store", checks: STORE_CHECKS },
  { name: "Secrets", checks: SECRET_CHECKS },
];

/** Reads and examines a project without starting its server. The agent files are loaded. */
export async function examineProject(
  ...input: Parameters<typeof readProject>
): Promise<readonly Diagnosis[]> {
  const project = await readProject(...input);
  return await runChecks(PROJECT_CHECKS, () => project);
}
