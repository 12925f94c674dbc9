/*
 * The options of Pyxis 0.24.0 (https://github.com/NVIDIA/pyxis/blob/v0.24.0/args.c, read 2026-11-22) for a Slurm without
 * Enroot. Slurm parses them and passes them to the nodes as it does for Pyxis. In place of a container, a task gets what
 * Pyxis would give Enroot as variables. An image file that is not complete, a mount that Pyxis does not parse or whose
 * source is missing, and a working directory outside of the mounts, fail as they do in Pyxis and Enroot.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <slurm/spank.h>

SPANK_PLUGIN(containers, 1)

static char *image, *mounts, *workdir;

static int keep(char **value, const char *name, const char *argument)
{
	if (argument == NULL || *argument == '\0') {
		slurm_error("pyxis: --%s: argument required", name);
		return -1;
	}
	/* Slurm calls twice with the same value. */
	if (*value != NULL && strcmp(*value, argument) != 0) {
		slurm_error("pyxis: --%s specified multiple times", name);
		return -1;
	}
	*value = strdup(argument);
	return 0;
}

static int keep_image(int val, const char *argument, int remote) { return keep(&image, "container-image", argument); }
static int keep_workdir(int val, const char *argument, int remote) { return keep(&workdir, "container-workdir", argument); }

/* SRC:DST[:FLAGS]: SRC is a path, tmpfs or umount, and DST a path. */
static int is_mount(const char *entry)
{
	const char *target = strchr(entry, ':');

	target = target ? target + 1 : entry;
	if (*entry == '\0' || *entry == ':' || *target == '\0' || *target == ':')
		return slurm_error("pyxis: --container-mounts: invalid format: %s", entry), 0;
	if (strspn(entry, "./") == 0 && strncmp(entry, "tmpfs:", 6) != 0 && strncmp(entry, "umount:", 7) != 0)
		return slurm_error("pyxis: mount source must be a relative path, an absolute path, \"tmpfs\" or \"umount\""), 0;
	if (strspn(target, "./") == 0)
		return slurm_error("pyxis: mount target must be a relative path or an absolute path"), 0;
	return 1;
}

/* Pyxis adds the mounts of each call on the side of srun; a node is called once, with the last value. */
static int keep_mounts(int val, const char *argument, int remote)
{
	char list[PATH_MAX], *rest = list, *entry;

	if (argument == NULL || *argument == '\0') {
		slurm_error("pyxis: --container-mounts: argument required");
		return -1;
	}
	snprintf(list, sizeof(list), "%s", argument);
	while ((entry = strsep(&rest, ",")) != NULL)
		if (!is_mount(entry))
			return -1;
	free(mounts);
	mounts = strdup(argument);
	return 0;
}

static struct spank_option table[] = {
	{"container-image", "[USER@][REGISTRY#]IMAGE[:TAG]|PATH", "image", 1, 0, keep_image},
	{"container-mounts", "SRC:DST[:FLAGS][,SRC:DST...]", "mounts", 1, 0, keep_mounts},
	{"container-workdir", "PATH", "working directory", 1, 0, keep_workdir},
	SPANK_OPTIONS_TABLE_END,
};

int slurm_spank_init(spank_t sp, int ac, char **av)
{
	for (struct spank_option *option = table; option->name != NULL; option++)
		if (spank_option_register(sp, option) != ESPANK_SUCCESS)
			return -1;
	return 0;
}

/* Whether the container has a path: it is below the target of a mount. */
static int is_mounted(const char *path)
{
	char list[PATH_MAX], *rest = list, *entry;

	snprintf(list, sizeof(list), "%s", mounts ? mounts : "");
	while ((entry = strsep(&rest, ",")) != NULL) {
		char *target = strchr(entry, ':');
		size_t length;

		target = target ? target + 1 : entry;
		target[strcspn(target, ":")] = '\0';
		length = strlen(target);
		if (length > 0 && strncmp(path, target, length) == 0 && (path[length] == '/' || path[length] == '\0'))
			return 1;
	}
	return 0;
}

/* The first source of a mount that the node does not have, as Enroot reports it. */
static const char *missing_source(char *list)
{
	char *entry;

	while ((entry = strsep(&list, ",")) != NULL) {
		entry[strcspn(entry, ":")] = '\0';
		if ((*entry == '/' || *entry == '.') && access(entry, F_OK) != 0)
			return entry;
	}
	return NULL;
}

/* A squashfs begins with these bytes; enroot.sh writes the first two when an import begins. */
static int is_squashfs(const char *path)
{
	char magic[4] = "";
	FILE *file = fopen(path, "r");
	size_t length = file ? fread(magic, 1, sizeof(magic), file) : 0;

	if (file)
		fclose(file);
	return length == sizeof(magic) && memcmp(magic, "hsqs", sizeof(magic)) == 0;
}

int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
	char list[PATH_MAX];
	const char *missing;

	if (image == NULL)
		return 0;
	if ((image[0] == '/' || image[0] == '.') && !is_squashfs(image)) {
		slurm_error("pyxis: failed to create container filesystem: Invalid image format: %s", image);
		return -1;
	}
	snprintf(list, sizeof(list), "%s", mounts ? mounts : "");
	if ((missing = missing_source(list)) != NULL) {
		slurm_error("pyxis: enroot-mount: failed to mount: %s: %s", missing, strerror(ENOENT));
		return -1;
	}
	if (workdir != NULL && !is_mounted(workdir)) {
		slurm_error("pyxis: couldn't chdir to %s: %s", workdir, strerror(ENOENT));
		return -1;
	}
	spank_setenv(sp, "CONTAINER_IMAGE", image, 1);
	spank_setenv(sp, "CONTAINER_MOUNTS", mounts ? mounts : "", 1);
	spank_setenv(sp, "CONTAINER_WORKDIR", workdir ? workdir : "", 1);
	return 0;
}
