import { Token } from 'aws-cdk-lib';

const MODEL = 'anthropic.claude-sonnet-4-6';

/**
 * Regions of each geography whose inference profile takes prompts to Regions of that geography only. Fewer than AWS
 * lists: where a profile would leave the country or the union (London, Zurich, Canada), somebody chooses.
 */
const GEOGRAPHIES: readonly (readonly [string, readonly string[]])[] = [
  ['us', ['us-east-1', 'us-east-2', 'us-west-1', 'us-west-2']],
  ['eu', ['eu-central-1', 'eu-north-1', 'eu-south-1', 'eu-south-2', 'eu-west-1', 'eu-west-3']],
  ['jp', ['ap-northeast-1', 'ap-northeast-3']],
  ['au', ['ap-southeast-2', 'ap-southeast-4']],
];

/**
 * The model that is asked when none is chosen: by the profile of the Region's own geography. Throws where the Region is
 * not known before deployment or its geography has no such profile: prompts quote sessions, and where those go is no default.
 */
export function defaultModel(region: string): string {
  const [geography] = GEOGRAPHIES.find(([, regions]) => regions.includes(region)) ?? [];
  if (geography === undefined)
    throw new Error(
      `no model is chosen, and ${Token.isUnresolved(region) ? 'the Region of the stack is not known before deployment' : `${region} has no inference profile of its own geography on file`}: ` +
        `name it in \`models\`, e.g. ["bedrock:eu.${MODEL}"], or ["bedrock:global.${MODEL}"], which may send sessions to any Region; ["none"] asks no model`,
    );
  return `bedrock:${geography}.${MODEL}`;
}
