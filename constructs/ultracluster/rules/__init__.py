"""Rules of constructs and of the cluster file: every refusal and warning has a stable id and a reason."""

from ultracluster.rules._file_checks import FileCheck as FileCheck
from ultracluster.rules._file_checks import add_file_checks as add_file_checks
from ultracluster.rules._file_checks import file_checks as file_checks
from ultracluster.rules._refusal import Refusal as Refusal
from ultracluster.rules._rule import ARGUMENT as ARGUMENT
from ultracluster.rules._rule import TOKEN as TOKEN
from ultracluster.rules._rule import Message as Message
from ultracluster.rules._rule import Rule as Rule
from ultracluster.rules._rule import RuleText as RuleText
from ultracluster.rules._rule import error as error
from ultracluster.rules._rule import nearest as nearest
from ultracluster.rules._rule import register as register
from ultracluster.rules._rule import registered as registered
from ultracluster.rules._rule import warning as warning
from ultracluster.rules._shared import SHARED as SHARED
from ultracluster.rules._shared import shared as shared
