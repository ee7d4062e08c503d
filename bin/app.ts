import { App, Stack, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { readSettings } from '../lib/read-settings.ts';
import { SessionDiagnosis } from '../lib/session-diagnosis.ts';
import { defaultModel } from '../lib/workflow/default-model.ts';

const app = new App();
const stack = new Stack(app, 'Rootspan', { description: 'Finds out why AI-agent sessions fail' });
const settings = readSettings(app.node.tryGetContext('rootspan'));
// The stack names no Region, so that one template serves all; the command line says which it deploys to.
const models = settings.models ?? [defaultModel(process.env.CDK_DEFAULT_REGION ?? 'an unknown Region')];
new SessionDiagnosis(stack, 'Diagnosis', { ...settings, models });
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
