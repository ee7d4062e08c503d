import { App, Stack, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { readSettings } from '../lib/read-settings.ts';
import { SessionDiagnosis } from '../lib/session-diagnosis.ts';

const app = new App();
const stack = new Stack(app, 'Rootspan', { description: 'Finds out why AI-agent sessions fail' });
new SessionDiagnosis(stack, 'Diagnosis', readSettings(app.node.tryGetContext('rootspan')));
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
