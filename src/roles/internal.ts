/** THE BACK DOOR OF ROLES: what other rooms of the house need and no user does. The package does not export it. */
export { understand } from "./planner/index.ts";
export { answerIn } from "./solver/index.ts";
